// WebCrypto with a cache of results. Tests check thousands of tokens or receipts that differ in one byte, so most of the signatures they
// check are the same.
import { toHex } from "../../core/bytes.ts";
import type { SignatureCrypto } from "../../core/ledger/spki.ts";

interface Imported {
  readonly name: string;
  readonly key: CryptoKey;
}

export const createCachingSubtle = (): SignatureCrypto => {
  const keys = new Map<string, Promise<Imported>>();
  const verdicts = new Map<string, Promise<boolean>>();
  return {
    digest: (algorithm, data) => crypto.subtle.digest(algorithm, data),
    importKey: (format, spki, algorithm, extractable, usages) => {
      const name = `${JSON.stringify(algorithm)} ${toHex(spki)}`;
      const known = keys.get(name) ?? crypto.subtle.importKey(format, spki, algorithm, extractable, usages).then((key) => ({ name, key }));
      keys.set(name, known);
      return known;
    },
    verify: (algorithm, imported, signature, data) => {
      const { name, key } = imported as Imported;
      const cacheKey = [name, JSON.stringify(algorithm), toHex(signature), toHex(data)].join(" ");
      const known = verdicts.get(cacheKey) ?? crypto.subtle.verify(algorithm, key, signature, data);
      verdicts.set(cacheKey, known);
      return known;
    },
  };
};
