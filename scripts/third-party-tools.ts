// The independent tools that test/interop uses to check proofs and documents: Go with its sumdb packages, openssl, Python, PHP, unzip, jq
// and sha256sum. Missing tools are installed with apt. These tests are never skipped, because they show that anyone can check proofs
// without our code.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { aptInstall } from "./browser.ts";

const sumdb = "/usr/share/gocode/src/golang.org/x/mod/sumdb/note";

const canRun = (command: string, ...args: readonly string[]): boolean => spawnSync(command, args, { stdio: "ignore" }).status === 0;

const tools: readonly { readonly name: string; readonly packages: readonly string[]; readonly isInstalled: () => boolean }[] = [
  { name: "Go", packages: ["golang-go"], isInstalled: () => canRun("go", "version") },
  { name: "Go's sumdb packages", packages: ["golang-golang-x-mod-dev"], isInstalled: () => existsSync(sumdb) },
  { name: "openssl", packages: ["openssl"], isInstalled: () => canRun("openssl", "version") },
  { name: "Python 3", packages: ["python3"], isInstalled: () => canRun("python3", "--version") },
  { name: "PHP", packages: ["php-cli"], isInstalled: () => canRun("php", "--version") },
  { name: "unzip", packages: ["unzip"], isInstalled: () => canRun("unzip", "-v") },
  { name: "jq", packages: ["jq"], isInstalled: () => canRun("jq", "--version") },
  { name: "sha256sum", packages: ["coreutils"], isInstalled: () => canRun("sha256sum", "--version") },
];

/** Installs missing tools. If that fails, throws an error with the package names. */
export const ensureThirdPartyTools = async (): Promise<void> => {
  const missing = tools.filter(({ isInstalled }) => !isInstalled());
  if (missing.length === 0) return;
  await aptInstall(missing.flatMap(({ packages }) => packages));
  const stillMissing = missing.filter(({ isInstalled }) => !isInstalled());
  if (stillMissing.length > 0) {
    throw new Error(
      `The tests need ${stillMissing.map(({ name }) => name).join(", ")}, which could not be installed automatically (that requires apt-get and root or sudo). Install: ${stillMissing.flatMap(({ packages }) => packages).join(" ")}.`,
    );
  }
};
