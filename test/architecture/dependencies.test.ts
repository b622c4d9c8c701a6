// Checks that docs/internals/dependencies.md lists every dependency, and no other package, with its version, license and reason, and that
// the lock file matches package.json.
import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parseImports, extractPackageName, readRepositoryFile, listScriptFiles } from "./repository.ts";

interface Manifest {
  readonly dependencies: Record<string, string>;
  readonly devDependencies: Record<string, string>;
}
interface Locked {
  readonly version: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly peerDependencies?: Record<string, string>;
  readonly optionalDependencies?: Record<string, string>;
  readonly hasInstallScript?: boolean;
}

const manifest = JSON.parse(readFileSync("package.json", "utf8")) as Manifest;
const lock = JSON.parse(readFileSync("package-lock.json", "utf8")) as { readonly packages: Record<string, Locked> };

/**
 * Returns whether the package at `path` can resolve `name` in the lock file, as Node does: in its own node_modules, then in each parent's.
 */
const isLocked = (path: string, name: string): boolean => {
  for (let folder = path; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf("/node_modules/")))) {
    if (lock.packages[`${folder === "" ? "" : `${folder}/`}node_modules/${name}`] !== undefined) return true;
    if (folder === "") return false;
  }
};

const readDependencies = (heading: string): { name: string; version: string; licence: string; why: string; instead: string }[] => {
  const section =
    readRepositoryFile("docs/internals/dependencies.md")
      .split(/^## /m)
      .find((part) => part.startsWith(heading)) ?? "";
  return [...section.matchAll(/^\| `([^`]+)` \| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$/gm)].map(([, ...cells]) => {
    const [name = "", version = "", licence = "", why = "", instead = ""] = cells.map((cell) => cell.trim());
    return { name, version, licence, why, instead };
  });
};

const sections = [
  { heading: "Runs in the Worker", declared: manifest.dependencies },
  { heading: "Builds, checks and tests", declared: manifest.devDependencies },
] as const;

/** Returns the license as the page writes it: `MIT or Apache-2.0` for `(MIT OR Apache-2.0)`. */
const normalizeLicense = (licence: string): string => licence.replaceAll(/[()]/g, "").replaceAll(" OR ", " or ");

describe("docs/internals/dependencies.md", () => {
  for (const { heading, declared } of sections) {
    test(`"${heading}" lists exactly what package.json declares`, () => {
      expect(Object.fromEntries(readDependencies(heading).map(({ name, version }) => [name, version]))).toEqual(declared);
    });

    test(`"${heading}" gives the license of each installed package`, () => {
      const installed = Object.keys(declared).map((name) => {
        const { license } = JSON.parse(readFileSync(`node_modules/${name}/package.json`, "utf8")) as { license: string };
        return [name, normalizeLicense(license)];
      });
      expect(Object.fromEntries(readDependencies(heading).map(({ name, licence }) => [name, licence]))).toEqual(
        Object.fromEntries(installed),
      );
    });

    test(`"${heading}" gives a reason and an alternative for each package`, () => {
      expect(readDependencies(heading).filter(({ why, instead }) => why.length < 15 || instead.length < 4)).toEqual([]);
    });
  }
});

describe("dependencies", () => {
  const pins = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies });

  test("are pinned exactly", () => {
    expect(pins.filter(([, version]) => !/^(?:npm:@?[a-z/-]+@)?\d+\.\d+\.\d+(?:-[a-z0-9.]+)?$/.test(version))).toEqual([]);
    expect(readFileSync(".npmrc", "utf8")).toMatch(/^save-exact=true$/m);
  });

  test("are locked at the declared version", () => {
    const drifted = pins.filter(([name, version]) => lock.packages[`node_modules/${name}`]?.version !== version.split("@").at(-1));
    expect(drifted).toEqual([]);
  });

  test("that run in the Worker, and their own dependencies, have permissive licenses", () => {
    const running = Object.entries(lock.packages).filter(([path, { dev, devOptional }]) => path !== "" && !dev && !devOptional);
    expect(running.length).toBeGreaterThan(8);
    const free = /^\(?(?:MIT|ISC|BSD-2-Clause|BSD-3-Clause|0BSD|Apache-2\.0)(?: OR .*)?\)?$/;
    expect(running.filter(([, { license }]) => !free.test(license ?? "")).map(([path]) => path)).toEqual([]);
  });

  test("run installation scripts only when package.json allows them", () => {
    const { allowScripts } = JSON.parse(readFileSync("package.json", "utf8")) as { allowScripts: Record<string, boolean> };
    const scripted = Object.entries(lock.packages).filter(([, { hasInstallScript }]) => hasInstallScript);
    const names = [...new Set(scripted.map(([path]) => path.split("node_modules/").at(-1) as string))].sort();
    expect(names.filter((name) => allowScripts[name] !== true)).toEqual([]);
  });

  test("of the Worker are exactly the packages that it imports and their peer dependencies", () => {
    const worker = listScriptFiles().filter((file) => /^(?:core|storage|durable-objects|workers)\//.test(file));
    const imported = worker
      .flatMap(parseImports)
      .filter(({ target, specifier }) => target === null && !/^(?:node|cloudflare):/.test(specifier))
      .map(({ specifier }) => extractPackageName(specifier));
    const askedFor = imported.flatMap((name) => Object.keys(lock.packages[`node_modules/${name}`]?.peerDependencies ?? {}));
    const unused = Object.keys(manifest.dependencies).filter((name) => !imported.includes(name) && !askedFor.includes(name));
    expect(unused).toEqual([]);
    expect([...new Set(imported)].filter((name) => !(name in manifest.dependencies))).toEqual([]);
  });

  test("include workerd only once, for the service and its tests", () => {
    const runtimes = Object.keys(lock.packages).filter((path) => /(?:^|\/)node_modules\/workerd$/.test(path));
    expect(runtimes).toEqual(["node_modules/workerd"]);
    expect(existsSync("node_modules/workerd")).toBe(true);
  });
});

describe("package-lock.json", () => {
  test("contains every optional dependency of every locked package, so that npm ci works on every platform", () => {
    const missing = Object.entries(lock.packages).flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies)
        .filter((name) => !isLocked(path, name))
        .map((name) => `${path} -> ${name}`),
    );
    expect(missing).toEqual([]);
  });
});
