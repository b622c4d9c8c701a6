// Who did something, as audit entries name them: by kind and id, never by name or address.

export type Actor =
  | { readonly kind: "client" | "api_key" | "member" | "consumer" | "agent"; readonly id: string }
  /** The person of a certificate or share, as a business may know them: by what they proved it with. */
  | { readonly kind: "subject"; readonly verifiedBy: "email_code" | "manage_link" | "account" | "revoke_link" }
  /** Somebody who proved nothing. */
  | { readonly kind: "visitor" }
  /** Whoever runs the service, by hand. */
  | { readonly kind: "operator" }
  /** The service itself. */
  | { readonly kind: "system" };

/** The one text of an actor. Chains commit to it, so it never changes. */
export const formatActor = (actor: Actor): string => {
  switch (actor.kind) {
    case "subject":
      return `subject:${actor.verifiedBy}`;
    case "visitor":
      return "visitor";
    case "operator":
      return "operator";
    case "system":
      return "service";
    default:
      return `${actor.kind}:${actor.id}`;
  }
};
