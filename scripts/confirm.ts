// Asks the operator before a command changes something.
import { createInterface } from "node:readline/promises";

/** Asks whether to continue. Returns true without asking if `isSkipped` is true or standard input is not a terminal. */
export const confirm = async (isSkipped: boolean): Promise<boolean> => {
  if (isSkipped || !process.stdin.isTTY) return true;
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question("\nContinue? [y/N] ");
  terminal.close();
  return /^y(?:es)?$/i.test(answer.trim());
};
