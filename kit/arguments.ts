// What was typed behind a command of `svc`, and the settings that come from the environment alone.

/** Ends the command with exit code 2 and its help. */
export class UsageError extends Error {}

export interface ParsedArguments {
  readonly positionals: readonly string[];
  readonly values: ReadonlyMap<string, string>;
  readonly flags: ReadonlySet<string>;
}

/** `--name value` and `--name=value` for `valued`, `--name` for `flagged`; whatever else starts with a dash is a mistake. */
export const parseArguments = (given: readonly string[], valued: readonly string[], flagged: readonly string[]): ParsedArguments => {
  const [words, values, flags] = [[] as string[], new Map<string, string>(), new Set<string>()];
  const rest = [...given];
  for (let one = rest.shift(); one !== undefined; one = rest.shift()) {
    const [name = "", ...after] = one.split("=");
    if (!one.startsWith("-")) words.push(one);
    else if (flagged.includes(one)) flags.add(one);
    else if (valued.includes(name)) {
      const value = after.length > 0 ? after.join("=") : rest.shift();
      if (value === undefined || value === "") throw new UsageError(`${name} needs a value.`);
      values.set(name, value);
    } else if (/key|token|secret/i.test(name))
      throw new UsageError("The API key is read from SVC_API_KEY, so that no list of processes shows it.");
    else throw new UsageError(`There is no option ${name}.`);
  }
  return { positionals: words, values, flags };
};

const defaultApiUrl = "http://localhost:8787";

/** The service's address without `/v1`: `--api`, SVC_API, or the one that `npm start` has. */
export const getApiUrl = ({ values }: ParsedArguments): string => {
  const text = values.get("--api") ?? process.env.SVC_API ?? defaultApiUrl;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new UsageError("--api (or SVC_API) takes an address, such as https://api.example.com.");
  return url.href.replace(/\/+$/, "").replace(/\/v1$/, "");
};

const readApiKey = (): string => {
  const text = process.env.SVC_API_KEY ?? "";
  if (text === "") throw new UsageError("Set SVC_API_KEY to an API key; a test key begins with sk_test_.");
  if (!/^sk_(?:live|test)_[A-Za-z0-9_-]+$/.test(text)) throw new UsageError("SVC_API_KEY does not hold an API key.");
  return text;
};

/** Live records are a deliberate choice. */
export const requireApiKey = ({ flags }: ParsedArguments): { readonly key: string; readonly isLive: boolean } => {
  const text = readApiKey();
  const isLive = text.startsWith("sk_live_");
  if (isLive && !flags.has("--live")) throw new UsageError("SVC_API_KEY holds a live key. Say --live if live events are what you want.");
  return { key: text, isLive };
};

export const requireTestKey = (): string => {
  const text = readApiKey();
  if (!text.startsWith("sk_test_")) throw new UsageError("SVC_API_KEY holds a live key; this works in test mode alone.");
  return text;
};
