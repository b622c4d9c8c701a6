// Rows as CSV (RFC 4180). A cell that a spreadsheet would run as a formula begins with an apostrophe.
const isFormula = /^[=+\-@\t\r]/;

const cellOf = (text: string): string => {
  const safe = isFormula.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

export const csvOf = (rows: readonly (readonly string[])[]): string => rows.map((row) => `${row.map(cellOf).join(",")}\r\n`).join("");
