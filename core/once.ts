// Defers creating a value until it is first needed.

/**
 * Returns a function that calls `create` on its first call and returns the same value on every call. Used for values that take milliseconds
 * to create, such as `Intl` objects, so that isolates do not create them at startup.
 */
export const once = <T extends object>(create: () => T): (() => T) => {
  let value: T | undefined;
  return () => {
    value ??= create();
    return value;
  };
};
