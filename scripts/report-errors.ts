// Prints an error that a command does not handle. `run.mjs` loads this file before each command.

/** Returns true for errors that only a mistake in the code causes. Errors of Node.js, such as those of files, have a code. */
const isMistake = (error: Error): boolean =>
  !("code" in error) && [TypeError, RangeError, ReferenceError, SyntaxError].some((type) => error instanceof type);

process.on("uncaughtException", (error) => {
  console.error(error instanceof Error && !isMistake(error) ? error.message : error);
  process.exit(1);
});
