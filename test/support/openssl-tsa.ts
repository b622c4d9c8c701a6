// A timestamp authority that runs the openssl command, an independent implementation of RFC 3161. Each instance has its own keys.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Returns the output of `openssl version`, or null if openssl is missing or too old for timestamps. */
export const findOpensslVersion = (): string | null => {
  const { status, stdout } = spawnSync("openssl", ["version"], { encoding: "utf8" });
  return status === 0 && /^OpenSSL (?:1\.1|[3-9])/.test(stdout) ? stdout.trim() : null;
};

export type TsaKey = "EC P-256" | "EC P-384" | "RSA 2048";

const keyOptions: Readonly<Record<TsaKey, readonly string[]>> = {
  "EC P-256": ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
  "EC P-384": ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"],
  "RSA 2048": ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"],
};

export interface TsaOptions {
  readonly key: TsaKey;
  /** Hash algorithm of the signature. The default is SHA-256. */
  readonly digest?: "sha256" | "sha384" | "sha512";
  /** Hash algorithm that identifies the certificate in the token. `sha1` selects the older attribute. */
  readonly certificateHash?: "sha1" | "sha256" | "sha512";
}

const buildConfig = ({ digest = "sha256", certificateHash = "sha256" }: TsaOptions): string => `
[tsa]
default_tsa = authority
[authority]
serial = serial
crypto_device = builtin
signer_cert = tsa.pem
certs = ca.pem
signer_key = tsa.key
signer_digest = ${digest}
default_policy = 1.2.3.4.1
other_policies = 1.2.3.4.5
digests = sha256, sha512
accuracy = secs:1
ordering = yes
tsa_name = yes
ess_cert_id_chain = no
ess_cert_id_alg = ${certificateHash}
`;

export class OpensslTsa {
  readonly #folder = mkdtempSync(join(tmpdir(), "svc-tsa-"));

  constructor(options: TsaOptions) {
    this.#write("tsa.cnf", buildConfig(options));
    this.#write("extensions.cnf", "extendedKeyUsage = critical, timeStamping\nkeyUsage = critical, digitalSignature\n");
    this.#run("genpkey", ...keyOptions["EC P-256"], "-out", "ca.key");
    this.#run("req", "-x509", "-new", "-key", "ca.key", "-subj", "/O=Test/CN=Test root", "-days", "30", "-out", "ca.pem");
    this.#run("genpkey", ...keyOptions[options.key], "-out", "tsa.key");
    this.certify("tsa.pem");
  }

  #path(name: string): string {
    return join(this.#folder, name);
  }

  #write(name: string, content: string | Uint8Array): void {
    writeFileSync(this.#path(name), content);
  }

  #run(...args: readonly string[]): Buffer {
    return execFileSync("openssl", args, { cwd: this.#folder, stdio: ["ignore", "pipe", "pipe"] });
  }

  /** Issues another certificate for the authority's key, with a new serial number. Returns DER. */
  certify(name = "again.pem"): Uint8Array {
    this.#run("req", "-new", "-key", "tsa.key", "-subj", "/O=Test/CN=Test authority", "-out", "tsa.csr");
    const issuer = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", "extensions.cnf", "-days", "30"];
    this.#run("x509", "-req", "-in", "tsa.csr", ...issuer, "-out", name);
    return this.#run("x509", "-in", name, "-outform", "DER");
  }

  /** Returns the authority's public key as DER. */
  spki(): Uint8Array {
    return this.#run("pkey", "-in", "tsa.key", "-pubout", "-outform", "DER");
  }

  /** Returns the authority's root certificate as PEM. */
  root(): string {
    return readFileSync(this.#path("ca.pem"), "utf8");
  }

  /** Creates a timestamp request for these bytes. */
  query(data: Uint8Array, ...options: readonly string[]): Uint8Array {
    this.#write("data.bin", data);
    return this.#run("ts", "-query", "-data", "data.bin", ...options);
  }

  /** Returns the authority's reply to a request. A rejected request gets a reply with status 2. */
  reply(request: Uint8Array): Uint8Array {
    this.#write("request.tsq", request);
    this.#run("ts", "-reply", "-config", "tsa.cnf", "-section", "authority", "-queryfile", "request.tsq", "-out", "reply.tsr");
    return readFileSync(this.#path("reply.tsr"));
  }

  /** Returns true if openssl accepts the reply for these bytes. */
  accepts(data: Uint8Array, reply: Uint8Array): boolean {
    this.#write("checkpoint.txt", data);
    this.#write("checkpoint.tsr", reply);
    const args = ["ts", "-verify", "-data", "checkpoint.txt", "-in", "checkpoint.tsr", "-CAfile", "ca.pem"];
    const { status, stdout, stderr } = spawnSync("openssl", args, { cwd: this.#folder, encoding: "utf8" });
    return status === 0 && /Verification: OK/.test(stdout + stderr);
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
