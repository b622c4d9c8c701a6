// Tests that sealed values can be opened only in their own context, and only with the keys that sealed them.
import { describe, expect, test } from "vitest";
import { getPlainIndex, listStoredForms, toStoredIndex } from "../../core/access/address-index.ts";
import { defaultLinkKeys, parseLinkKeys } from "../../core/access/link-keys.ts";
import { toBase64, toBase64Url, fromBase64Url } from "../../core/bytes.ts";
import { sha256 } from "../../core/hash.ts";
import { isSameSealedValue, openVault, type EncryptionContext, type Vault } from "../../storage/vault.ts";

const createKey = (label: string): Uint8Array<ArrayBuffer> => sha256(`key ${label}`) as Uint8Array<ArrayBuffer>;
const openVaultWith = (...versions: readonly string[]): Promise<Vault> =>
  openVault({ masterKeys: new Map(versions.map((version) => [version, createKey(version)])), indexKey: createKey("index") });
const context: EncryptionContext = { table: "certificates", record: "cc_1", field: "subject", owner: "biz_1" };

describe("a sealed value", () => {
  test.each(["", "hello", "\u0000", "é😀\ufeff", "\ufeffa leading mark", "\ufeff", "x".repeat(100_000), '{"a":1}'])(
    "opens to the original text: %#",
    async (text) => {
      const vault = await openVaultWith("1");
      expect(await vault.open(context, await vault.seal(context, text))).toBe(text);
    },
  );

  test.each(["", "hello", "é😀\ufeff", "\ufeffa leading mark", "x".repeat(100_000), '{"a":1}'])(
    "opens to the original text when it is compressed: %#",
    async (text) => {
      const vault = await openVaultWith("1");
      const compressed = { ...context, isCompressed: true };
      expect(await vault.open(compressed, await vault.seal(compressed, text))).toBe(text);
    },
  );

  test("is shorter than a repetitive text when it is compressed", async () => {
    const vault = await openVaultWith("1");
    expect((await vault.seal({ ...context, isCompressed: true }, "the same words ".repeat(100))).length).toBeLessThan(200);
  });

  test("hides its text and differs each time", async () => {
    const vault = await openVaultWith("1");
    const sealed = await Promise.all(Array.from({ length: 50 }, () => vault.seal(context, "the same secret text")));
    expect(new Set(sealed).size).toBe(50);
    for (const value of sealed) {
      expect(value).toMatch(/^1\.[A-Za-z0-9_-]+$/);
      expect(new TextDecoder().decode(fromBase64Url(value.slice(2)) as Uint8Array)).not.toContain("secret");
    }
    const parts = sealed.map((value) => fromBase64Url(value.slice(2)) as Uint8Array);
    expect(new Set(parts.map((bytes) => toBase64Url(bytes.subarray(0, 40)))).size).toBe(50);
    expect(new Set(parts.map((bytes) => toBase64Url(bytes.subarray(40, 52)))).size).toBe(50);
  });

  test.each<readonly [string, Partial<EncryptionContext>]>([
    ["another record", { record: "cc_2" }],
    ["another owner", { owner: "biz_2" }],
    ["another field", { field: "evidence" }],
    ["another table", { table: "certificate_views" }],
  ])("does not open in the context of %s", async (_name, moved) => {
    const vault = await openVaultWith("1");
    const sealed = await vault.seal(context, "text");
    await expect(vault.open({ ...context, ...moved }, sealed)).rejects.toThrow();
  });

  test("is not created in a context with the separator in a name", async () => {
    await expect((await openVaultWith("1")).seal({ ...context, record: "cc_1|subject" }, "text")).rejects.toThrow("contains a bar");
  });

  test("does not open with any byte changed, removed or added", async () => {
    const vault = await openVaultWith("1");
    const bytes = fromBase64Url((await vault.seal(context, "a secret")).slice(2)) as Uint8Array;
    const canOpen = (changed: Uint8Array): Promise<boolean> =>
      vault.open(context, `1.${toBase64Url(changed)}`).then(
        () => true,
        () => false,
      );
    expect(await canOpen(bytes)).toBe(true);
    const survivors: number[] = [];
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = bytes.slice();
      changed[at] = (changed[at] as number) ^ (1 << (at % 8));
      if (await canOpen(changed)) survivors.push(at);
    }
    expect(survivors).toEqual([]);
    expect(await canOpen(bytes.subarray(0, -1))).toBe(false);
    expect(await canOpen(new Uint8Array([...bytes, 0]))).toBe(false);
    expect(await canOpen(bytes.subarray(0, 52))).toBe(false);
    expect(await canOpen(new Uint8Array())).toBe(false);
  });

  test.each(["", ".", "1", "1.", "2.AAAA", "AAAA", "1.*", "1. AAAA", "__proto__.AAAA"])(
    "does not open text that was never sealed: %j",
    async (text) => {
      await expect((await openVaultWith("1")).open(context, text)).rejects.toThrow();
    },
  );

  test("does not open in another encoding of the same bytes", async () => {
    const vault = await openVaultWith("1");
    const sealed = await vault.seal(context, "text");
    await expect(vault.open(context, `${sealed}=`)).rejects.toThrow();
    await expect(vault.open(context, sealed.replace("1.", "01."))).rejects.toThrow();
    await expect(vault.open(context, ` ${sealed}`)).rejects.toThrow();
  });
});

describe("master keys", () => {
  test("seal with the newest and open with all", async () => {
    const before = await openVaultWith("1");
    const during = await openVaultWith("1", "2");
    const old = await before.seal(context, "old");
    const fresh = await during.seal(context, "new");
    expect(old.startsWith("1.") && fresh.startsWith("2.")).toBe(true);
    expect(await during.open(context, old)).toBe("old");
    expect(await during.open(context, fresh)).toBe("new");
    const after = await openVaultWith("2");
    expect(await after.open(context, fresh)).toBe("new");
    await expect(after.open(context, old)).rejects.toThrow();
    await expect(before.open(context, fresh)).rejects.toThrow();
  });

  test("do not open values of another key with the same version", async () => {
    const sealed = await (await openVaultWith("1")).seal(context, "text");
    const otherVault = await openVault({ masterKeys: new Map([["1", createKey("another")]]), indexKey: createKey("index") });
    await expect(otherVault.open(context, sealed)).rejects.toThrow();
  });

  test("do not open a value relabeled with another version, even when the keys are equal", async () => {
    const sealed = await (await openVaultWith("1")).seal(context, "text");
    const vault = await openVault({
      masterKeys: new Map([
        ["1", createKey("1")],
        ["2", createKey("1")],
      ]),
      indexKey: createKey("index"),
    });
    expect(await vault.open(context, sealed)).toBe("text");
    await expect(vault.open(context, sealed.replace("1.", "2."))).rejects.toThrow();
  });

  test("are required to open a vault", async () => {
    await expect(openVaultWith()).rejects.toThrow("no master key");
  });
});

describe("rewrapping", () => {
  const rewrapBetween = async (from: Vault, target: Vault, sealed: string): Promise<string> => {
    expect(await from.rewrap(sealed)).toBeNull();
    return (await target.rewrap(sealed)) as string;
  };

  test("moves a value to the newest master key without its context, and leaves the ciphertext as it is", async () => {
    const [first, both, second] = await Promise.all([openVaultWith("1"), openVaultWith("1", "2"), openVaultWith("2")]);
    const sealed = await first.seal(context, "a secret");
    const moved = await rewrapBetween(first, both, sealed);
    expect(moved).toMatch(/^2-1\./);
    expect(await second.open(context, moved)).toBe("a secret");
    expect(await both.open(context, moved)).toBe("a secret");
    await expect(first.open(context, moved)).rejects.toThrow();
    await expect(second.open({ ...context, record: "cc_2" }, moved)).rejects.toThrow();
    expect(isSameSealedValue(sealed, moved)).toBe(true);
    expect(isSameSealedValue(sealed, await first.seal(context, "a secret"))).toBe(false);
    expect(await both.rewrap(sealed)).toBe(moved);
    expect(await both.rewrap(moved)).toBeNull();
  });

  test("can be repeated with later keys, and reversed", async () => {
    const [first, second, third] = await Promise.all([openVaultWith("1"), openVaultWith("1", "2"), openVaultWith("2", "3")]);
    const sealed = await first.seal(context, "text");
    const moved = (await third.rewrap((await second.rewrap(sealed)) as string)) as string;
    expect(moved).toMatch(/^3-1\./);
    expect(await (await openVaultWith("3")).open(context, moved)).toBe("text");
    expect(await (await openVaultWith("2", "1")).rewrap((await second.rewrap(sealed)) as string)).toBe(sealed);
  });

  test("moves record keys, and not the values that are sealed with them", async () => {
    const [first, both, second] = await Promise.all([openVaultWith("1"), openVaultWith("1", "2"), openVaultWith("2")]);
    const recordKey = await first.newRecordKey();
    const value = await (await first.withRecordKey(recordKey)).seal(context, "text");
    const moved = await rewrapBetween(first, both, recordKey);
    expect(await both.rewrap(value)).toBeNull();
    expect(await (await second.withRecordKey(moved)).open(context, value)).toBe("text");
  });

  test.each(["", "0.[]", "1700000000000", "1.AAAA", "9.".concat("A".repeat(90))])("refuses or ignores any other text: %j", async (text) => {
    const both = await openVaultWith("1", "2");
    expect(await both.rewrap(text).catch(() => null)).toBeNull();
  });

  test("does not give a value two spellings", async () => {
    const vault = await openVaultWith("1");
    const sealed = await vault.seal(context, "text");
    await expect(vault.open(context, sealed.replace("1.", "1-1."))).rejects.toThrow();
    await expect(vault.open(context, sealed.replace("1.", "1-1-1."))).rejects.toThrow();
  });
});

describe("the blind index", () => {
  test("is stable for a key and differs for another key", async () => {
    const [one, repeated, other] = await Promise.all([
      openVaultWith("1"),
      openVaultWith("1", "2"),
      openVault({ masterKeys: new Map([["1", createKey("1")]]), indexKey: createKey("another index") }),
    ]);
    const index = await one.blindIndex("email", "pat@example.com");
    expect(index).toMatch(/^[0-9a-f]{32}$/);
    expect(await repeated.blindIndex("email", "pat@example.com")).toBe(index);
    expect(await other.blindIndex("email", "pat@example.com")).not.toBe(index);
    expect(await one.blindIndex("phone", "pat@example.com")).not.toBe(index);
    expect(await one.blindIndex("email", "pam@example.com")).not.toBe(index);
  });

  const openVaultDuring = (text: string) =>
    openVault({
      masterKeys: new Map([["1", createKey("1")]]),
      indexKey: createKey("index"),
      indexEncryptionKeys: parseLinkKeys(text) ?? defaultLinkKeys,
    });
  const first = `1:${toBase64(createKey("first"))}`;
  const second = `2:${toBase64(createKey("second"))}`;

  test("is stored in the form of the current key, and is found in every form from every form", async () => {
    const plain = String(await (await openVaultDuring("index")).blindIndex("email", "pat@example.com"));
    const encrypted = toStoredIndex(await (await openVaultDuring(first)).blindIndex("email", "pat@example.com"));
    const laterIndex = toStoredIndex(await (await openVaultDuring(second)).blindIndex("email", "pat@example.com"));
    expect(encrypted).toMatch(/^1\.[0-9a-f]{32}$/);
    expect(laterIndex).toMatch(/^2\.[0-9a-f]{32}$/);
    expect(new Set([plain, encrypted.slice(2), laterIndex.slice(2)]).size).toBe(3);
    for (const [text, forms] of [
      ["index", [plain]],
      [`index,${first}@next`, [plain, encrypted]],
      [`index,${first}`, [encrypted, plain]],
      [first, [encrypted]],
      [`${first},${second}@next`, [encrypted, laterIndex]],
      [`${first},${second}`, [laterIndex, encrypted]],
    ] as const) {
      const vault = await openVaultDuring(text);
      const index = await vault.blindIndex("email", "pat@example.com");
      expect(listStoredForms(index), text).toEqual(forms);
      expect(getPlainIndex(index), text).toBe(plain);
      for (const form of [plain, ...forms]) expect(vault.readIndex(form), text).toBe(index);
    }
  });

  test("cannot be read without the key that encrypts it, or computed with the first key alone", async () => {
    const encrypted = toStoredIndex(await (await openVaultDuring(first)).blindIndex("email", "pat@example.com"));
    const vault = await openVaultDuring("index");
    expect(() => vault.readIndex(encrypted)).toThrow("unknown key");
    const other = await openVaultDuring(`1:${toBase64(createKey("another"))}`);
    expect(toStoredIndex(await other.blindIndex("email", "pat@example.com"))).not.toBe(encrypted);
    expect(vault.readIndex("erased con_1")).toBe("erased con_1");
  });
});
