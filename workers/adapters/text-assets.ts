// Reads texts from the static assets. A text that few requests need is an asset instead of a constant, because an isolate parses all of its
// code when it starts.

/** Returns the text of an asset. Rejects if the asset does not exist or cannot be read. */
export type ReadTextAsset = (path: string) => Promise<string>;

/** Caches each text in the isolate. A cached text is never outdated, because the name of an asset contains a hash of its contents. */
export const createTextAssetReader = (assets: Fetcher): ReadTextAsset => {
  const texts = new Map<string, string>();
  return async (path) => {
    const known = texts.get(path);
    if (known !== undefined) return known;
    const response = await assets.fetch(new URL(path, "https://assets.invalid"));
    if (!response.ok) throw new Error(`assets: ${path} returned ${response.status}`);
    const text = await response.text();
    texts.set(path, text);
    return text;
  };
};
