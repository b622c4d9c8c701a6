// Prints an error that a command does not handle. `run.mjs` loads this file before each command.

/** Returns true for errors that usually come from a mistake in the code, so that their stack is needed. */
const isMistake = (error: Error): boolean => [TypeError, RangeError, ReferenceError, SyntaxError].some((type) => error instanceof type);

process.on("uncaughtException", (error) => {
  // An error that combines several others, such as those of all addresses of a host, has no message of its own.
  console.error(error instanceof Error && error.message !== "" && !isMistake(error) ? error.message : error);
  process.exit(1);
});
