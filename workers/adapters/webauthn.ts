// WebAuthn registration and authentication through @simplewebauthn/server. The library throws errors that quote the input. The two verify
// functions return null instead for every rejected credential.
import {
  generateAuthenticationOptions,
  generateRegistrationOptions,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from "@simplewebauthn/server";
import { decodeAttestationObject, isoBase64URL } from "@simplewebauthn/server/helpers";
import { challengeLifetimeMs, type RegistrationResponse, type WebAuthn } from "../../core/access/passkey.ts";

/** ES256, EdDSA and RS256. Every authenticator supports at least one of them. */
const algorithms = [-7, -8, -257];

const nullOnError = async <T>(check: () => Promise<T | null>): Promise<T | null> => {
  try {
    return await check();
  } catch {
    return null;
  }
};

/**
 * Returns true if the response contains no attestation or only self-attestation. Browsers send one of these if no attestation is requested.
 * Verifying vendor certificates would require most of the library's code, and would fetch the revocation lists that the certificates name.
 */
const isUnattested = ({ response }: RegistrationResponse): boolean => {
  const attestation = decodeAttestationObject(isoBase64URL.toBuffer(response.attestationObject));
  const format = attestation.get("fmt");
  return format === "none" || (format === "packed" && attestation.get("attStmt").get("x5c") === undefined);
};

export const webAuthn: WebAuthn = {
  createRegistrationOptions: (party, { challenge, userHandle, userName, excluded }) =>
    generateRegistrationOptions({
      rpName: party.id,
      rpID: party.id,
      userID: isoBase64URL.toBuffer(userHandle),
      userName,
      userDisplayName: userName,
      challenge,
      timeout: challengeLifetimeMs,
      attestationType: "none",
      excludeCredentials: excluded.map(({ credentialId, transports }) => ({ id: credentialId, transports: [...transports] })),
      authenticatorSelection: { residentKey: "required", userVerification: "required" },
      supportedAlgorithmIDs: algorithms,
    }),

  createAuthenticationOptions: (party, challenge) =>
    generateAuthenticationOptions({ rpID: party.id, challenge, timeout: challengeLifetimeMs, userVerification: "required" }),

  verifyRegistration: (party, registration, challenge) =>
    nullOnError(async () => {
      if (!isUnattested(registration)) return null;
      const { verified, registrationInfo } = await verifyRegistrationResponse({
        response: {
          ...registration,
          response: { clientDataJSON: registration.response.clientDataJSON, attestationObject: registration.response.attestationObject },
          clientExtensionResults: {},
        },
        expectedChallenge: challenge,
        expectedOrigin: party.origin,
        expectedRPID: party.id,
        requireUserVerification: true,
        supportedAlgorithmIDs: algorithms,
      });
      if (!verified) return null;
      const { credential, credentialBackedUp } = registrationInfo;
      return {
        credentialId: credential.id,
        publicKey: isoBase64URL.fromBuffer(credential.publicKey),
        counter: credential.counter,
        backedUp: credentialBackedUp,
      };
    }),

  verifyAuthentication: (party, signed, challenge, key) =>
    nullOnError(async () => {
      const { clientDataJSON, authenticatorData, signature } = signed.response;
      const { verified, authenticationInfo } = await verifyAuthenticationResponse({
        response: { ...signed, response: { clientDataJSON, authenticatorData, signature }, clientExtensionResults: {} },
        expectedChallenge: challenge,
        expectedOrigin: party.origin,
        expectedRPID: party.id,
        requireUserVerification: true,
        credential: { id: key.credentialId, publicKey: isoBase64URL.toBuffer(key.publicKey), counter: key.counter },
      });
      return verified ? { counter: authenticationInfo.newCounter, backedUp: authenticationInfo.credentialBackedUp } : null;
    }),
};
