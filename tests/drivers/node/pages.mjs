// The pages that each program asks about.

export const pages = [
  [1, "Passwords", 'To reset a password, choose "Forgot password" on the sign-in page.', "en"],
  [2, "Invoices", "Invoices are sent monthly. A refund takes five working days.", "en"],
  [3, "Passwörter", 'Um ein Passwort zurückzusetzen, wählen Sie "Passwort vergessen".', "de"],
];
