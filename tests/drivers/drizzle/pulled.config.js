// Where `drizzle-kit pull` writes, apart from the migrations.
import config from "./drizzle.config.js";

export default { ...config, out: "./pulled" };
