// Reads settings as the Worker does, so that a command can refuse invalid ones before a service gets them.

/** Returns the faults that the Worker finds in its settings and secrets. Each starts with the name of a setting and contains no secret. */
const listConfigFaults = async (settings: object): Promise<readonly string[]> => {
  // The URL is a variable, so that the type checker skips this import. It cannot check the Worker's modules and Node's types together.
  const moduleUrl = new URL("../workers/env.ts", import.meta.url).href;
  const { loadConfig } = (await import(moduleUrl)) as { readonly loadConfig: (settings: object) => object };
  try {
    loadConfig(settings);
    return [];
  } catch (error) {
    if (error instanceof Error && "faults" in error) return error.faults as readonly string[];
    throw error;
  }
};

const getSettingName = (fault: string): string => /^[A-Z0-9_]+/.exec(fault)?.[0] ?? "";

/**
 * Returns the faults of the settings in `settings`. Missing settings are not faults, because they can be set elsewhere. If `omitted` is
 * given, only the settings that it lists may be missing. `assumed` contains placeholders for missing settings that other settings require.
 */
export const listFaultsOfGiven = async (
  settings: object,
  omitted: readonly string[] | null = null,
  assumed: object = {},
): Promise<readonly string[]> =>
  (await listConfigFaults({ ...assumed, ...settings })).filter((fault) => {
    const name = getSettingName(fault);
    return name in settings || (omitted !== null && !omitted.includes(name));
  });
