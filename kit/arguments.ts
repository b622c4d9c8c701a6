// Parses the arguments of `svc` commands, and reads settings from the environment.

/** Thrown for wrong usage. `svc` prints the message and the command's help, and exits with code 2. */
export class UsageError extends Error {}

export interface ParsedArguments {
  readonly positionals: readonly string[];
  readonly values: ReadonlyMap<string, string>;
  readonly flags: ReadonlySet<string>;
}

/**
 * Parses arguments: `--name value` or `--name=value` for `valueOptions`, and `--name` for `flagOptions`. Throws UsageError for an unknown
 * option or a missing value.
 */
export const parseArguments = (
  args: readonly string[],
  valueOptions: readonly string[],
  flagOptions: readonly string[],
): ParsedArguments => {
  const [positionals, values, flags] = [[] as string[], new Map<string, string>(), new Set<string>()];
  const rest = [...args];
  for (let argument = rest.shift(); argument !== undefined; argument = rest.shift()) {
    const [name = "", ...valueParts] = argument.split("=");
    if (!argument.startsWith("-")) positionals.push(argument);
    else if (flagOptions.includes(argument)) flags.add(argument);
    else if (valueOptions.includes(name)) {
      const value = valueParts.length > 0 ? valueParts.join("=") : rest.shift();
      if (value === undefined || value === "") throw new UsageError(`${name} needs a value.`);
      values.set(name, value);
    } else if (/key|token|secret/i.test(name))
      throw new UsageError("Set the API key in SVC_API_KEY. An option would show it in the process list.");
    else throw new UsageError(`Unknown option ${name}.`);
  }
  return { positionals, values, flags };
};

const defaultApiUrl = "http://localhost:8787";

/**
 * Returns the service's base URL without `/v1`, from `--api` or SVC_API. The default is the service that `npm start` runs. Throws
 * UsageError if the URL is invalid.
 */
export const getApiUrl = ({ values }: ParsedArguments): string => {
  const text = values.get("--api") ?? process.env.SVC_API ?? defaultApiUrl;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new UsageError("--api (or SVC_API) must be an http or https URL, such as https://api.example.com.");
  return url.href.replace(/\/+$/, "").replace(/\/v1$/, "");
};

const readApiKey = (): string => {
  const text = process.env.SVC_API_KEY ?? "";
  if (text === "") throw new UsageError("SVC_API_KEY is not set. Set it to an API key; test keys begin with sk_test_.");
  if (!/^sk_(?:live|test)_[A-Za-z0-9_-]+$/.test(text))
    throw new UsageError("SVC_API_KEY is not an API key. Keys begin with sk_test_ or sk_live_.");
  return text;
};

/**
 * Returns the API key. Throws UsageError if the key is missing or malformed, or if it is a live key without `--live`, because live events
 * contain data about real people.
 */
export const requireApiKey = ({ flags }: ParsedArguments): { readonly key: string; readonly isLive: boolean } => {
  const text = readApiKey();
  const isLive = text.startsWith("sk_live_");
  if (isLive && !flags.has("--live")) throw new UsageError("SVC_API_KEY is a live key. Add --live to read live events.");
  return { key: text, isLive };
};

/** Returns the API key. Throws UsageError unless the key is a test key. */
export const requireTestKey = (): string => {
  const text = readApiKey();
  if (!text.startsWith("sk_test_")) throw new UsageError("SVC_API_KEY is a live key. This command needs a test key.");
  return text;
};
