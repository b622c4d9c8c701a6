// The tools that nobody here wrote, with which test/interop checks our proofs and documents: Go with its sumdb packages, openssl,
// Python, PHP, unzip and jq. Installed by apt where the machine lacks them and can; never skipped, because a proof that only we can
// check is none.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { aptInstall } from "./browser.ts";

const sumdb = "/usr/share/gocode/src/golang.org/x/mod/sumdb/note";

const canRun = (command: string, ...args: readonly string[]): boolean => spawnSync(command, args, { stdio: "ignore" }).status === 0;

const tools: readonly { readonly name: string; readonly packages: readonly string[]; readonly isThere: () => boolean }[] = [
  { name: "Go", packages: ["golang-go"], isThere: () => canRun("go", "version") },
  { name: "Go's sumdb packages", packages: ["golang-golang-x-mod-dev"], isThere: () => existsSync(sumdb) },
  { name: "openssl", packages: ["openssl"], isThere: () => canRun("openssl", "version") },
  { name: "Python 3", packages: ["python3"], isThere: () => canRun("python3", "--version") },
  { name: "PHP", packages: ["php-cli"], isThere: () => canRun("php", "--version") },
  { name: "unzip", packages: ["unzip"], isThere: () => canRun("unzip", "-v") },
  { name: "jq", packages: ["jq"], isThere: () => canRun("jq", "--version") },
  { name: "sha256sum", packages: ["coreutils"], isThere: () => canRun("sha256sum", "--version") },
];

/** Throws, saying what to install, when a tool is missing and cannot be installed here. */
export const ensureThirdPartyTools = async (): Promise<void> => {
  const missing = tools.filter(({ isThere }) => !isThere());
  if (missing.length === 0) return;
  await aptInstall(missing.flatMap(({ packages }) => packages));
  const still = missing.filter(({ isThere }) => !isThere());
  if (still.length > 0) {
    throw new Error(
      `The tests need ${still.map(({ name }) => name).join(", ")}, which could not be installed here (that takes apt-get and root or sudo). Install: ${still.flatMap(({ packages }) => packages).join(" ")}.`,
    );
  }
};
