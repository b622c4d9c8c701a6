// Parses the command line of a script.
import { parseArgs, type ParseArgsConfig } from "node:util";

/** Returns the options. For arguments that the script does not take, prints the reason and the usage, and exits with status 2. */
export const parseOptions = <T extends NonNullable<ParseArgsConfig["options"]>>(options: T, usage: string) => {
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${usage}\n`);
    return process.exit(2);
  }
};
