// Every mail there is, in every language, to be read as text. To add one: its data in `MailData`, its life in `mailLifeMs`,
// its words in `templates`; the compiler asks for what is missing. What a business or a person chose is never in a subject.
import { isMailbox } from "../mailbox.ts";
import type { FieldGroup } from "../shares/fields.ts";
import { dayMs, isoOf, minuteMs, type Instant } from "../time.ts";
import { plainName, type MailText } from "./message.ts";

export type MailLanguage = "en" | "es" | "fr-CA";

interface SharedDetails {
  readonly business_name: string;
  readonly groups: readonly FieldGroup[];
  /** When it ends by itself. */
  readonly until: Instant;
}

interface StoppedShare {
  readonly share_id: string;
  readonly business_name: string;
  /** When it was stopped; of a confirmation, when the business confirmed. */
  readonly at: Instant;
  readonly cease_by: Instant;
}

/** What each template is filled with. Kept sealed until the mail is sent. */
export interface MailData {
  /** To whoever asked to sign in. */
  readonly login_code: { readonly code: string };
  /** To the person whose account it was added to; `device` as the browser named itself, null where it did not. */
  readonly passkey_added: { readonly at: Instant; readonly device: string | null };
  /** To whoever asked for an account of a business. */
  readonly signup_code: { readonly code: string };
  /** To whom an owner invited. */
  readonly member_invited: { readonly business_name: string; readonly sign_in_url: string; readonly until: Instant };
  /** To the owners of a business whose domain does not show its proof any more. */
  readonly domain_missing: { readonly domain: string; readonly lapses_at: Instant };
  readonly domain_lapsed: { readonly domain: string };
  /** To the person on a certificate who asked to withdraw. */
  readonly withdrawal_code: {
    readonly code: string;
    readonly business_name: string;
    /** The certificate's page, with the token that withdraws behind the `#`. */
    readonly verify_url: string;
  };
  /** To the person, once a consent is withdrawn: by themselves, or as the business recorded it. */
  readonly withdrawal_confirmation: {
    readonly cert_id: string;
    readonly business_name: string;
    readonly by: "person" | "business";
    /** Only these recipients; null of the whole certificate. */
    readonly entities: readonly string[] | null;
    /** Everything given to the business under this address. */
    readonly is_everything: boolean;
    readonly cease_by: Instant;
    readonly receipt_url: string;
    /** Where the business can be reached, where it says so. */
    readonly contact: string | null;
    readonly mailing_address: string | null;
  };
  /** To the owners of a business: the certificates' ids and the deadline, and nothing of the person. */
  readonly withdrawal_owner_notice: { readonly cert_ids: readonly string[]; readonly cease_by: Instant };
  /** Likewise, of a withdrawal from single recipients. */
  readonly entities_owner_notice: { readonly cert_id: string; readonly entities: readonly string[]; readonly cease_by: Instant };
  /** To the person, with the link that stops the share: at the grant, and before it ends by itself. */
  readonly share_receipt: SharedDetails & {
    readonly host: string;
    readonly purpose: string;
    readonly stop_url: string;
    readonly app_url: string;
  };
  readonly share_expiring: SharedDetails & { readonly is_tomorrow: boolean; readonly renew_url: string; readonly stop_url: string };
  readonly share_stopped: StoppedShare & {
    readonly groups: readonly FieldGroup[];
    readonly contact: string | null;
    readonly app_url: string;
  };
  readonly share_ceased: StoppedShare & { readonly note: string | null };
  readonly share_overdue: StoppedShare & { readonly contact: string | null };
  /** To the owners of a business: the share's id and the deadline, and nothing of the person. */
  readonly share_owner_notice: { readonly share_ids: readonly string[]; readonly cease_by: Instant };
  /** To the person whose assistant changed something, once an hour and token. */
  readonly agent_changed: { readonly token_id: string; readonly at: Instant; readonly app_url: string };
  /** The last mail to a person: it is all that is left of their address. */
  readonly account_deleted: { readonly at: Instant };
  readonly removal_completed: {
    readonly completed: number;
    readonly asked: number;
    readonly recheck_at: Instant;
    readonly affidavit_url: string;
  };
  /** To whoever let a program be connected, at each connection. */
  readonly agent_connected: {
    readonly client_name: string;
    /** Null for a program that only says who it is. */
    readonly client_host: string | null;
    readonly redirect_host: string;
    readonly at: Instant;
    readonly end_url: string;
  };
  /** Likewise, a week before a connection ends by itself. */
  readonly agent_ending: { readonly client_name: string; readonly until: Instant; readonly end_url: string };
  /** To the owners of a business whose endpoint does not answer. */
  readonly webhook_failing: { readonly webhook_id: string; readonly failing_since: Instant; readonly failures: number };
  /** To the owners of a business whose public client comes close to the day's limit of submissions without an API key. */
  readonly client_limit_near: { readonly client_id: string; readonly until: Instant };
}

export type MailTemplate = keyof MailData;

/** A template with its data. */
export type Mail = { readonly [T in MailTemplate]: { readonly template: T; readonly data: MailData[T] } }[MailTemplate];

/** How long sending is tried: a code that has expired is of no use to anybody. */
export const mailLifeMs: Readonly<Record<MailTemplate, number>> = {
  login_code: 10 * minuteMs,
  passkey_added: 3 * dayMs,
  signup_code: 10 * minuteMs,
  member_invited: 3 * dayMs,
  domain_missing: 3 * dayMs,
  domain_lapsed: 3 * dayMs,
  withdrawal_code: 10 * minuteMs,
  withdrawal_confirmation: 3 * dayMs,
  withdrawal_owner_notice: 3 * dayMs,
  share_receipt: 3 * dayMs,
  share_expiring: dayMs,
  share_stopped: 3 * dayMs,
  share_ceased: 3 * dayMs,
  share_overdue: 3 * dayMs,
  share_owner_notice: 3 * dayMs,
  account_deleted: dayMs,
  removal_completed: 3 * dayMs,
  entities_owner_notice: 3 * dayMs,
  agent_changed: 3 * dayMs,
  agent_connected: 3 * dayMs,
  agent_ending: 3 * dayMs,
  webhook_failing: dayMs,
  client_limit_near: dayMs,
};

const dateWords: Readonly<Record<MailLanguage, string>> = { en: "en-GB", es: "es", "fr-CA": "fr-CA" };

/** `4 December 2026`: deadlines end with their day, in UTC. */
const dayIn = (language: MailLanguage, at: Instant): string =>
  new Intl.DateTimeFormat(dateWords[language], { dateStyle: "long", timeZone: "UTC" }).format(at);

/** `2026-11-20 10:05 UTC` */
const minuteOf = (at: Instant): string => `${isoOf(at).slice(0, 16).replace("T", " ")} UTC`;

const maxListed = 20; // names in one mail

const listedNames = (names: readonly string[], more: (count: number) => string): readonly string[] => [
  ...names.slice(0, maxListed).map(plainName),
  ...(names.length > maxListed ? [more(names.length - maxListed)] : []),
];

const groupWords: Readonly<Record<MailLanguage, Readonly<Record<FieldGroup, string>>>> = {
  en: { email: "e-mail", phone: "phone", address: "address", name: "name" },
  es: { email: "correo electrónico", phone: "teléfono", address: "dirección", name: "nombre" },
  "fr-CA": { email: "courriel", phone: "téléphone", address: "adresse", name: "nom" },
};

/** `name, e-mail and phone`. */
const groupsIn = (language: MailLanguage, groups: readonly FieldGroup[]): string =>
  new Intl.ListFormat(language, { type: "conjunction" }).format(groups.map((group) => groupWords[language][group]));
/** What a business gave as its contact: one mailbox stands as it is, everything else as plain words. */
const reachableContact = (contact: string): string => (isMailbox(contact) ? contact : plainName(contact));

/** Whom to turn to. */
const reachable = ({ business_name, contact, mailing_address }: MailData["withdrawal_confirmation"]): string =>
  [
    plainName(business_name),
    ...(contact === null ? [] : [reachableContact(contact)]),
    ...(mailing_address === null ? [] : [plainName(mailing_address)]),
  ].join(", ");

type Words = { readonly [T in MailTemplate]: (data: MailData[T]) => MailText };

const en: Words = {
  login_code: ({ code }) => ({
    subject: "Your sign-in code",
    lines: [
      "Here is your code to sign in:",
      { code },
      "It is valid for 10 minutes and works once. Nobody from us will ever ask you for it.",
      "You did not want to sign in? Then you can ignore this mail: without the code nobody gets in.",
    ],
  }),
  passkey_added: ({ at, device }) => ({
    subject: "A passkey was added to your account",
    lines: [
      `Since ${minuteOf(at)} a new passkey signs in to your account${device === null ? "" : ` (${device})`}.`,
      "If it was you, there is nothing to do.",
      "It was not you? Then sign in with a code, remove the passkey and end all other sessions.",
      "Whoever added it could read your mail or had a device of yours. Change the password of your mailbox too.",
    ],
  }),
  signup_code: ({ code }) => ({
    subject: "Your code to open an account",
    lines: [
      "Here is your code to open an account for your business:",
      { code },
      "It is valid for 10 minutes and works once. Nobody from us will ever ask you for it.",
      "You did not ask for an account? Then you can ignore this mail: without the code there will be none.",
    ],
  }),
  member_invited: ({ business_name, sign_in_url, until }) => ({
    subject: "You are invited to a business account",
    lines: [
      `You are invited to the account of: ${plainName(business_name)}. To accept, sign in with this address here; you get a code by mail:`,
      { link: sign_in_url },
      `The invitation is good until ${minuteOf(until)}. An address belongs to one business: if yours has an account already, it stays there.`,
      "You do not know this business? Then you can ignore this mail: nothing changes.",
    ],
  }),
  domain_missing: ({ domain, lapses_at }) => ({
    subject: "The proof of one of your domains is missing",
    lines: [
      "We look for the proof of each of your domains once a week, and did not find the one of:",
      domain,
      `The domain stays verified until ${minuteOf(lapses_at)}. Please publish the proof again before then; the portal shows it under Domains.`,
      "After that, forms on this domain get no certificates. Certificates that were issued stay as they are.",
    ],
  }),
  domain_lapsed: ({ domain }) => ({
    subject: "One of your domains is no longer verified",
    lines: [
      "The proof of one of your domains was missing for two weeks. It is no longer verified:",
      domain,
      "Forms on this domain get no certificates from now on. Publish the proof again and check it in the portal, under Domains.",
      "Certificates that were issued stay as they are.",
    ],
  }),
  withdrawal_code: ({ code, business_name, verify_url }) => ({
    subject: "Your code to withdraw consent",
    lines: [
      "Here is your code to withdraw your consent:",
      { code },
      "It is valid for 10 minutes and works once.",
      `The consent was given to: ${plainName(business_name)}. Instead of typing the code you can open its certificate here and press the button. This link works for a day:`,
      { link: verify_url },
      "You did not ask for this? Then you can ignore this mail: nothing changes.",
    ],
  }),
  withdrawal_confirmation: (data) => ({
    subject: "Your consent is withdrawn",
    lines: [
      data.by === "person"
        ? `You have withdrawn the consent you had given to: ${plainName(data.business_name)}.`
        : `This business has recorded that you withdrew the consent you had given to it: ${plainName(data.business_name)}.`,
      ...(data.entities === null
        ? [data.is_everything ? "This goes for everything you had given to it with this address." : "This goes for one certificate."]
        : [
            "This goes for these recipients, and for no others:",
            ...listedNames(data.entities, (count) => `and ${count} more, all named on the certificate's page`),
          ]),
      `Contact under this consent must end by ${dayIn("en", data.cease_by)}, midnight UTC (${isoOf(data.cease_by)}).`,
      "Your signed receipt. Keep it: it proves when you withdrew, and anyone can check it.",
      { link: data.receipt_url },
      `If you are still contacted after that day, or did not want this, turn to: ${reachable(data)}. Quote the number of the certificate:`,
      data.cert_id,
    ],
  }),
  withdrawal_owner_notice: ({ cert_ids, cease_by }) => ({
    subject: "A consent was withdrawn",
    lines: [
      "The person on your certificate has withdrawn consent. The number of each certificate:",
      ...cert_ids,
      `Contact under this consent must end by ${dayIn("en", cease_by)}, midnight UTC (${isoOf(cease_by)}).`,
      "The certificate and its record are kept.",
    ],
  }),
  entities_owner_notice: ({ cert_id, entities, cease_by }) => ({
    subject: "A consent was withdrawn from recipients",
    lines: [
      "The person on your certificate has withdrawn consent from these recipients, and from no others:",
      ...listedNames(entities, (count) => `and ${count} more, all named on the certificate's page`),
      `Their contact under this consent must end by ${dayIn("en", cease_by)}, midnight UTC (${isoOf(cease_by)}). The certificate stays active for the others. Its number:`,
      cert_id,
    ],
  }),
  share_receipt: ({ business_name, groups, host, purpose, until, stop_url, app_url }) => ({
    subject: "You shared details",
    lines: [
      `You shared your ${groupsIn("en", groups)} with ${plainName(business_name)}, asked for on ${plainName(host)}.`,
      `For: ${plainName(purpose)}`,
      `Until: ${dayIn("en", until)}.`,
      "To stop at any time, open this link and press the button. You need not sign in:",
      { link: stop_url },
      "Everything you share is listed here:",
      { link: app_url },
      "Was this not you? Stop it with the link.",
    ],
  }),
  share_expiring: ({ business_name, groups, until, is_tomorrow, renew_url, stop_url }) => ({
    subject: is_tomorrow ? "A share ends tomorrow" : "A share ends in 7 days",
    lines: [
      `Your share of ${groupsIn("en", groups)} with ${plainName(business_name)} ends on ${dayIn("en", until)}.`,
      "Do nothing and it ends by itself: then they may no longer use what they got under it.",
      "To keep it:",
      { link: renew_url },
      "To stop it today:",
      { link: stop_url },
    ],
  }),
  share_stopped: ({ share_id, business_name, groups, at, cease_by, contact, app_url }) => ({
    subject: "You stopped a share",
    lines: [
      `You stopped sharing ${groupsIn("en", groups)} with ${plainName(business_name)} on ${minuteOf(at)}.`,
      `We are telling them. They must stop contacting you by the end of ${dayIn("en", cease_by)} (UTC).`,
      `What they already hold is theirs to delete. Ask them${contact === null ? "." : `: ${reachableContact(contact)}`}`,
      "We write again when they confirm, or when the day has passed without a word.",
      `Still contacted after that day? Quote this number: ${share_id}. Your record of it:`,
      { link: app_url },
    ],
  }),
  share_ceased: ({ share_id, business_name, at, note }) => ({
    subject: "A business says contact has ended",
    lines: [
      `${plainName(business_name)} confirmed on ${minuteOf(at)} that contact under your stopped share has ended.`,
      ...(note === null ? [] : [`They wrote: ${plainName(note)}`]),
      "Your record keeps the share and this confirmation, with their proofs.",
      `If you are contacted all the same, keep the message and quote ${share_id}.`,
    ],
  }),
  share_overdue: ({ share_id, business_name, cease_by, contact }) => ({
    subject: "A deadline has passed",
    lines: [
      `${plainName(business_name)} had until ${dayIn("en", cease_by)} to confirm that contact has ended. It has not.`,
      "It may have ended all the same.",
      `If you are still contacted, these can help: ${contact === null ? "" : `${reachableContact(contact)}; `}your data protection authority.`,
      `Quote this number: ${share_id}`,
    ],
  }),
  share_owner_notice: ({ share_ids, cease_by }) => ({
    subject: "A share was stopped",
    lines: [
      "A person has stopped sharing their details with you. The number of each share:",
      ...share_ids,
      `Contact under it must end by ${dayIn("en", cease_by)}, midnight UTC (${isoOf(cease_by)}).`,
      "Acknowledge it when it has: POST /v1/shares/{id}/cease-ack.",
    ],
  }),
  agent_changed: ({ token_id, at, app_url }) => ({
    subject: "Your assistant changed something",
    lines: [
      `On ${minuteOf(at)} an assistant that you gave a token to ended a share of yours or changed a contact field.`,
      `The token is ${token_id}. What it did stands in your history; what it does within the hour is not mailed again.`,
      "Was this not what you wanted? End the token and look at your history:",
      { link: app_url },
    ],
  }),
  account_deleted: ({ at }) => ({
    subject: "Your account is deleted",
    lines: [
      `You deleted your account on ${minuteOf(at)}. Your details, your sessions and this address are gone from it.`,
      "Everything you shared has been stopped. Each business has been told, and must stop contacting you within its deadline.",
      "What stays is the record that the shares existed, without you, and the certificates of forms you sent: those belong to the forms. You can still withdraw from each on its own page.",
      "This is our last mail about it. Was this not you? Then somebody else could read your mail: change its password.",
    ],
  }),
  removal_completed: ({ completed, asked, recheck_at, affidavit_url }) => ({
    subject: "Your removal request is complete",
    lines: [
      `${completed} of ${asked} places removed you. The affidavit, signed, is here:`,
      { link: affidavit_url },
      "It names each place and what came of asking it.",
      `We look again on ${dayIn("en", recheck_at)}.`,
    ],
  }),
  agent_connected: ({ client_name, client_host, redirect_host, at, end_url }) => ({
    subject: "An assistant was connected",
    lines: [
      `On ${minuteOf(at)} you let this program be connected:`,
      plainName(client_name),
      client_host === null
        ? `It gave itself this name, and we could not check it. Its access went to ${redirect_host}.`
        : `${client_host} vouches for it. Its access went to ${redirect_host}.`,
      "It can read your records and, for a person, correct contact fields and stop shares. It can agree to nothing. Was this not you, or no longer wanted? End it here:",
      { link: end_url },
    ],
  }),
  agent_ending: ({ client_name, until, end_url }) => ({
    subject: "Your assistant’s connection is about to end",
    lines: [
      `On ${dayIn("en", until)} the connection of this program ends by itself:`,
      plainName(client_name),
      "Each connection works for 90 days. If you still want it, connect the program anew from its own settings then. To end it now:",
      { link: end_url },
    ],
  }),
  webhook_failing: ({ webhook_id, failing_since, failures }) => ({
    subject: "A webhook endpoint is failing",
    lines: [
      "One of your webhook endpoints does not accept what we send it. The endpoint is:",
      webhook_id,
      `It has failed ${failures} times in a row, since ${minuteOf(failing_since)}. It stays switched on.`,
      "Every event is also in the feed, GET /v1/events: read what you missed there, in order.",
    ],
  }),
  client_limit_near: ({ client_id, until }) => ({
    subject: "A form is close to its limit of today",
    lines: [
      "Submissions without an API key are close to the limit of a day for your client:",
      client_id,
      `Beyond the limit they are refused until ${minuteOf(until)}: the forms still work, and those sent get no certificate.`,
      "Submissions that your server sends with your API key do not count. If this is more than you expect, somebody may be sending in your name; otherwise ask us for a higher limit.",
    ],
  }),
};

const es: Words = {
  login_code: ({ code }) => ({
    subject: "Su código para entrar",
    lines: [
      "Este es su código para entrar:",
      { code },
      "Vale 10 minutos y sirve una sola vez. Nadie de nuestra parte se lo pedirá nunca.",
      "¿No quería entrar? Entonces puede ignorar este correo: sin el código no entra nadie.",
    ],
  }),
  passkey_added: ({ at, device }) => ({
    subject: "Se ha añadido una llave de acceso a su cuenta",
    lines: [
      `Desde el ${minuteOf(at)} una nueva llave de acceso permite entrar en su cuenta${device === null ? "" : ` (${device})`}.`,
      "Si ha sido usted, no tiene que hacer nada.",
      "¿No ha sido usted? Entonces entre con un código, elimine la llave y cierre todas las demás sesiones.",
      "Quien la añadió pudo leer su correo o tenía un dispositivo suyo. Cambie también la contraseña de su buzón.",
    ],
  }),
  signup_code: ({ code }) => ({
    subject: "Su código para abrir una cuenta",
    lines: [
      "Este es su código para abrir una cuenta para su empresa:",
      { code },
      "Vale 10 minutos y sirve una sola vez. Nadie de nuestra parte se lo pedirá nunca.",
      "¿No ha pedido una cuenta? Entonces puede ignorar este correo: sin el código no habrá ninguna.",
    ],
  }),
  member_invited: ({ business_name, sign_in_url, until }) => ({
    subject: "Le invitan a la cuenta de una empresa",
    lines: [
      `Le invitan a la cuenta de: ${plainName(business_name)}. Para aceptar, entre aquí con esta dirección; recibirá un código por correo:`,
      { link: sign_in_url },
      `La invitación vale hasta ${minuteOf(until)}. Una dirección pertenece a una sola empresa: si la suya ya tiene cuenta, se queda en ella.`,
      "¿No conoce esta empresa? Entonces puede ignorar este correo: no cambia nada.",
    ],
  }),
  domain_missing: ({ domain, lapses_at }) => ({
    subject: "Falta la prueba de uno de sus dominios",
    lines: [
      "Buscamos la prueba de cada uno de sus dominios una vez por semana, y no hemos encontrado la de:",
      domain,
      `El dominio sigue verificado hasta ${minuteOf(lapses_at)}. Publique de nuevo la prueba antes de esa fecha; el portal la muestra en Dominios.`,
      "Después, los formularios de este dominio no reciben certificados. Los certificados ya emitidos siguen como están.",
    ],
  }),
  domain_lapsed: ({ domain }) => ({
    subject: "Uno de sus dominios ya no está verificado",
    lines: [
      "La prueba de uno de sus dominios ha faltado durante dos semanas. Ya no está verificado:",
      domain,
      "Desde ahora los formularios de este dominio no reciben certificados. Publique de nuevo la prueba y compruébela en el portal, en Dominios.",
      "Los certificados ya emitidos siguen como están.",
    ],
  }),
  withdrawal_code: ({ code, business_name, verify_url }) => ({
    subject: "Su código para retirar el consentimiento",
    lines: [
      "Este es su código para retirar su consentimiento:",
      { code },
      "Vale 10 minutos y sirve una sola vez.",
      `El consentimiento se dio a: ${plainName(business_name)}. En lugar de escribir el código puede abrir aquí su certificado y pulsar el botón. Este enlace vale un día:`,
      { link: verify_url },
      "¿No lo ha pedido usted? Entonces puede ignorar este correo: no cambia nada.",
    ],
  }),
  withdrawal_confirmation: (data) => ({
    subject: "Su consentimiento está retirado",
    lines: [
      data.by === "person"
        ? `Ha retirado el consentimiento que dio a: ${plainName(data.business_name)}.`
        : `Esta empresa ha registrado que usted retiró el consentimiento que le dio: ${plainName(data.business_name)}.`,
      ...(data.entities === null
        ? [data.is_everything ? "Vale para todo lo que le dio con esta dirección." : "Vale para un certificado."]
        : [
            "Vale para estos destinatarios, y para ningún otro:",
            ...listedNames(data.entities, (count) => `y ${count} más, todos en la página del certificado`),
          ]),
      `El contacto basado en él debe terminar a más tardar el ${dayIn("es", data.cease_by)}, medianoche UTC (${isoOf(data.cease_by)}).`,
      "Su recibo firmado. Guárdelo: prueba cuándo lo retiró, y cualquiera puede comprobarlo.",
      { link: data.receipt_url },
      `Si después de ese día aún le contactan, o si no quería esto, diríjase a: ${reachable(data)}. Indique el número del certificado:`,
      data.cert_id,
    ],
  }),
  withdrawal_owner_notice: ({ cert_ids, cease_by }) => ({
    subject: "Se ha retirado un consentimiento",
    lines: [
      "La persona de su certificado ha retirado el consentimiento. El número de cada certificado:",
      ...cert_ids,
      `El contacto basado en él debe terminar a más tardar el ${dayIn("es", cease_by)}, medianoche UTC (${isoOf(cease_by)}).`,
      "El certificado y su registro se conservan.",
    ],
  }),
  entities_owner_notice: ({ cert_id, entities, cease_by }) => ({
    subject: "Se ha retirado un consentimiento a destinatarios",
    lines: [
      "La persona de su certificado ha retirado el consentimiento a estos destinatarios, y a ningún otro:",
      ...listedNames(entities, (count) => `y ${count} más, todos en la página del certificado`),
      `Su contacto basado en él debe terminar a más tardar el ${dayIn("es", cease_by)}, medianoche UTC (${isoOf(cease_by)}). El certificado sigue activo para los demás. Su número:`,
      cert_id,
    ],
  }),
  share_receipt: ({ business_name, groups, host, purpose, until, stop_url, app_url }) => ({
    subject: "Ha compartido sus datos",
    lines: [
      `Ha compartido con ${plainName(business_name)} estos datos, que pidió en ${plainName(host)}: ${groupsIn("es", groups)}.`,
      `Para: ${plainName(purpose)}`,
      `Hasta: ${dayIn("es", until)}.`,
      "Para dejar de compartir cuando quiera, abra este enlace y pulse el botón. No hace falta entrar:",
      { link: stop_url },
      "Todo lo que comparte está aquí:",
      { link: app_url },
      "¿No ha sido usted? Deténgalo con el enlace.",
    ],
  }),
  share_expiring: ({ business_name, groups, until, is_tomorrow, renew_url, stop_url }) => ({
    subject: is_tomorrow ? "Mañana deja de compartir unos datos" : "En 7 días deja de compartir unos datos",
    lines: [
      `Lo que comparte con ${plainName(business_name)} (${groupsIn("es", groups)}) termina el ${dayIn("es", until)}.`,
      "Si no hace nada, termina por sí solo: entonces ya no pueden usar lo que recibieron.",
      "Para seguir compartiendo:",
      { link: renew_url },
      "Para terminar hoy:",
      { link: stop_url },
    ],
  }),
  share_stopped: ({ share_id, business_name, groups, at, cease_by, contact, app_url }) => ({
    subject: "Ha dejado de compartir",
    lines: [
      `El ${minuteOf(at)} dejó de compartir con ${plainName(business_name)}: ${groupsIn("es", groups)}.`,
      `Se lo estamos comunicando. Deben dejar de contactarle a más tardar al final del ${dayIn("es", cease_by)} (UTC).`,
      `Lo que ya tienen les toca a ellos borrarlo. Pídaselo${contact === null ? "." : `: ${reachableContact(contact)}`}`,
      "Le escribiremos cuando lo confirmen, o cuando pase ese día sin respuesta.",
      `¿Le contactan después de ese día? Indique este número: ${share_id}. Su registro:`,
      { link: app_url },
    ],
  }),
  share_ceased: ({ share_id, business_name, at, note }) => ({
    subject: "Una empresa dice que el contacto ha terminado",
    lines: [
      `${plainName(business_name)} confirmó el ${minuteOf(at)} que el contacto basado en lo que dejó de compartir ha terminado.`,
      ...(note === null ? [] : [`Escribieron: ${plainName(note)}`]),
      "Su registro guarda lo compartido y esta confirmación, con sus pruebas.",
      `Si le contactan a pesar de todo, guarde el mensaje e indique ${share_id}.`,
    ],
  }),
  share_overdue: ({ share_id, business_name, cease_by, contact }) => ({
    subject: "Ha pasado un plazo",
    lines: [
      `${plainName(business_name)} tenía hasta el ${dayIn("es", cease_by)} para confirmar que el contacto ha terminado. No lo ha hecho.`,
      "Puede que haya terminado de todos modos.",
      `Si le siguen contactando, pueden ayudarle: ${contact === null ? "" : `${reachableContact(contact)}; `}su autoridad de protección de datos.`,
      `Indique este número: ${share_id}`,
    ],
  }),
  share_owner_notice: ({ share_ids, cease_by }) => ({
    subject: "Alguien ha dejado de compartir",
    lines: [
      "Una persona ha dejado de compartir sus datos con ustedes. El número de cada caso:",
      ...share_ids,
      `El contacto basado en ellos debe terminar a más tardar el ${dayIn("es", cease_by)}, medianoche UTC (${isoOf(cease_by)}).`,
      "Confírmenlo cuando haya terminado: POST /v1/shares/{id}/cease-ack.",
    ],
  }),
  agent_changed: ({ token_id, at, app_url }) => ({
    subject: "Su asistente ha cambiado algo",
    lines: [
      `El ${minuteOf(at)}, un asistente al que dio un token dejó de compartir algo suyo o cambió un dato de contacto.`,
      `El token es ${token_id}. Lo que hizo consta en su historial; de lo que haga en la próxima hora no le escribiremos otra vez.`,
      "¿No era lo que quería? Anule el token y consulte su historial:",
      { link: app_url },
    ],
  }),
  account_deleted: ({ at }) => ({
    subject: "Su cuenta se ha eliminado",
    lines: [
      `Usted eliminó su cuenta el ${minuteOf(at)}. Sus datos, sus sesiones y esta dirección ya no están en ella.`,
      "Todo lo que compartía se ha detenido. Se ha avisado a cada empresa, que debe dejar de contactarle dentro de su plazo.",
      "Queda constancia de que hubo esos permisos, sin usted, y quedan los certificados de los formularios que envió: pertenecen a esos formularios. Puede retirarse de cada uno en su página.",
      "Este es nuestro último correo sobre ello. ¿No ha sido usted? Entonces otra persona pudo leer su correo: cambie la contraseña.",
    ],
  }),
  removal_completed: ({ completed, asked, recheck_at, affidavit_url }) => ({
    subject: "Su solicitud de eliminación está completa",
    lines: [
      `${completed} de ${asked} sitios le han eliminado. La declaración firmada está aquí:`,
      { link: affidavit_url },
      "Nombra cada sitio y lo que resultó de preguntarle.",
      `Volveremos a mirar el ${dayIn("es", recheck_at)}.`,
    ],
  }),
  agent_connected: ({ client_name, client_host, redirect_host, at, end_url }) => ({
    subject: "Se ha conectado un asistente",
    lines: [
      `El ${minuteOf(at)} permitió que se conectara este programa:`,
      plainName(client_name),
      client_host === null
        ? `Se ha dado ese nombre él mismo y no hemos podido comprobarlo. Su acceso fue a ${redirect_host}.`
        : `${client_host} responde de él. Su acceso fue a ${redirect_host}.`,
      "Puede leer sus registros y, en el caso de una persona, corregir datos de contacto y dejar de compartir. No puede aceptar nada. ¿No fue usted o ya no lo quiere? Anúlelo aquí:",
      { link: end_url },
    ],
  }),
  agent_ending: ({ client_name, until, end_url }) => ({
    subject: "La conexión de su asistente está por terminar",
    lines: [
      `El ${dayIn("es", until)} termina por sí sola la conexión de este programa:`,
      plainName(client_name),
      "Cada conexión funciona durante 90 días. Si la quiere conservar, conecte entonces el programa de nuevo desde sus ajustes. Para terminarla ahora:",
      { link: end_url },
    ],
  }),
  webhook_failing: ({ webhook_id, failing_since, failures }) => ({
    subject: "Un webhook está fallando",
    lines: [
      "Uno de sus webhooks no acepta lo que le enviamos. El webhook es:",
      webhook_id,
      `Ha fallado ${failures} veces seguidas, desde ${minuteOf(failing_since)}. Sigue activado.`,
      "Todos los eventos están también en GET /v1/events: lea allí, en orden, lo que le falte.",
    ],
  }),
  client_limit_near: ({ client_id, until }) => ({
    subject: "Un formulario está cerca de su límite de hoy",
    lines: [
      "Los envíos sin clave de API están cerca del límite diario de su cliente:",
      client_id,
      `Más allá del límite se rechazan hasta ${minuteOf(until)}: los formularios siguen funcionando, pero lo enviado no recibe certificado.`,
      "Los envíos que hace su servidor con su clave de API no cuentan. Si son más de los que espera, puede que alguien envíe en su nombre; si no, pídanos un límite mayor.",
    ],
  }),
};

const frCa: Words = {
  login_code: ({ code }) => ({
    subject: "Votre code de connexion",
    lines: [
      "Voici votre code de connexion :",
      { code },
      "Il est valide 10 minutes et ne sert qu’une fois. Personne de chez nous ne vous le demandera jamais.",
      "Vous ne vouliez pas vous connecter ? Ignorez ce courriel : sans le code, personne n’entre.",
    ],
  }),
  passkey_added: ({ at, device }) => ({
    subject: "Une clé d’accès a été ajoutée à votre compte",
    lines: [
      `Depuis le ${minuteOf(at)}, une nouvelle clé d’accès permet de se connecter à votre compte${device === null ? "" : ` (${device})`}.`,
      "Si c’était vous, il n’y a rien à faire.",
      "Ce n’était pas vous ? Connectez-vous avec un code, supprimez la clé et fermez toutes les autres sessions.",
      "La personne qui l’a ajoutée a pu lire vos courriels ou tenait un de vos appareils. Changez aussi le mot de passe de votre messagerie.",
    ],
  }),
  signup_code: ({ code }) => ({
    subject: "Votre code pour ouvrir un compte",
    lines: [
      "Voici votre code pour ouvrir un compte pour votre entreprise :",
      { code },
      "Il est valide 10 minutes et ne sert qu’une fois. Personne de chez nous ne vous le demandera jamais.",
      "Vous n’avez pas demandé de compte ? Ignorez ce courriel : sans le code, il n’y en aura pas.",
    ],
  }),
  member_invited: ({ business_name, sign_in_url, until }) => ({
    subject: "Vous êtes invité au compte d’une entreprise",
    lines: [
      `Vous êtes invité au compte de : ${plainName(business_name)}. Pour accepter, connectez-vous ici avec cette adresse ; vous recevrez un code par courriel :`,
      { link: sign_in_url },
      `L’invitation est valide jusqu’au ${minuteOf(until)}. Une adresse appartient à une seule entreprise : si la vôtre a déjà un compte, elle y reste.`,
      "Vous ne connaissez pas cette entreprise ? Ignorez ce courriel : rien ne change.",
    ],
  }),
  domain_missing: ({ domain, lapses_at }) => ({
    subject: "La preuve d’un de vos domaines est absente",
    lines: [
      "Nous cherchons la preuve de chacun de vos domaines une fois par semaine, et n’avons pas trouvé celle de :",
      domain,
      `Le domaine reste vérifié jusqu’au ${minuteOf(lapses_at)}. Publiez de nouveau la preuve d’ici là ; le portail la montre sous Domaines.`,
      "Ensuite, les formulaires de ce domaine ne reçoivent plus de certificats. Les certificats déjà délivrés restent tels quels.",
    ],
  }),
  domain_lapsed: ({ domain }) => ({
    subject: "Un de vos domaines n’est plus vérifié",
    lines: [
      "La preuve d’un de vos domaines a été absente pendant deux semaines. Il n’est plus vérifié :",
      domain,
      "Désormais, les formulaires de ce domaine ne reçoivent plus de certificats. Publiez de nouveau la preuve et vérifiez-la dans le portail, sous Domaines.",
      "Les certificats déjà délivrés restent tels quels.",
    ],
  }),
  withdrawal_code: ({ code, business_name, verify_url }) => ({
    subject: "Votre code pour retirer votre consentement",
    lines: [
      "Voici votre code pour retirer votre consentement :",
      { code },
      "Il est valide 10 minutes et ne sert qu’une fois.",
      `Le consentement a été donné à : ${plainName(business_name)}. Au lieu de saisir le code, vous pouvez ouvrir ici son certificat et appuyer sur le bouton. Ce lien est valide un jour :`,
      { link: verify_url },
      "Vous n’avez rien demandé ? Ignorez ce courriel : rien ne change.",
    ],
  }),
  withdrawal_confirmation: (data) => ({
    subject: "Votre consentement est retiré",
    lines: [
      data.by === "person"
        ? `Vous avez retiré le consentement donné à : ${plainName(data.business_name)}.`
        : `Cette entreprise a noté que vous avez retiré le consentement que vous lui aviez donné : ${plainName(data.business_name)}.`,
      ...(data.entities === null
        ? [data.is_everything ? "Cela vaut pour tout ce que vous lui aviez donné avec cette adresse." : "Cela vaut pour un certificat."]
        : [
            "Cela vaut pour ces destinataires, et pour aucun autre :",
            ...listedNames(data.entities, (count) => `et ${count} autres, tous nommés sur la page du certificat`),
          ]),
      `Les communications fondées sur ce consentement doivent cesser au plus tard le ${dayIn("fr-CA", data.cease_by)}, à minuit UTC (${isoOf(data.cease_by)}).`,
      "Votre reçu signé. Conservez-le : il prouve quand vous avez retiré votre consentement, et chacun peut le vérifier.",
      { link: data.receipt_url },
      `Si l’on communique encore avec vous après ce jour, ou si vous ne vouliez pas cela, adressez-vous à : ${reachable(data)}. Indiquez le numéro du certificat :`,
      data.cert_id,
    ],
  }),
  withdrawal_owner_notice: ({ cert_ids, cease_by }) => ({
    subject: "Un consentement a été retiré",
    lines: [
      "La personne nommée sur votre certificat a retiré son consentement. Le numéro de chaque certificat :",
      ...cert_ids,
      `Les communications fondées sur ce consentement doivent cesser au plus tard le ${dayIn("fr-CA", cease_by)}, à minuit UTC (${isoOf(cease_by)}).`,
      "Le certificat et son dossier sont conservés.",
    ],
  }),
  entities_owner_notice: ({ cert_id, entities, cease_by }) => ({
    subject: "Un consentement a été retiré à des destinataires",
    lines: [
      "La personne nommée sur votre certificat a retiré son consentement à ces destinataires, et à aucun autre :",
      ...listedNames(entities, (count) => `et ${count} autres, tous nommés sur la page du certificat`),
      `Leurs communications fondées sur ce consentement doivent cesser au plus tard le ${dayIn("fr-CA", cease_by)}, à minuit UTC (${isoOf(cease_by)}). Le certificat reste actif pour les autres. Son numéro :`,
      cert_id,
    ],
  }),
  share_receipt: ({ business_name, groups, host, purpose, until, stop_url, app_url }) => ({
    subject: "Vous avez partagé vos renseignements",
    lines: [
      `Vous avez partagé avec ${plainName(business_name)} ce qui était demandé sur ${plainName(host)} : ${groupsIn("fr-CA", groups)}.`,
      `Pour : ${plainName(purpose)}`,
      `Jusqu’au : ${dayIn("fr-CA", until)}.`,
      "Pour arrêter à tout moment, ouvrez ce lien et appuyez sur le bouton. Inutile de vous connecter :",
      { link: stop_url },
      "Tout ce que vous partagez se trouve ici :",
      { link: app_url },
      "Ce n’était pas vous ? Arrêtez le partage avec le lien.",
    ],
  }),
  share_expiring: ({ business_name, groups, until, is_tomorrow, renew_url, stop_url }) => ({
    subject: is_tomorrow ? "Un partage prend fin demain" : "Un partage prend fin dans 7 jours",
    lines: [
      `Votre partage avec ${plainName(business_name)} (${groupsIn("fr-CA", groups)}) prend fin le ${dayIn("fr-CA", until)}.`,
      "Si vous ne faites rien, il prend fin de lui-même : l’entreprise ne peut alors plus utiliser ce qu’elle a reçu.",
      "Pour le garder :",
      { link: renew_url },
      "Pour l’arrêter aujourd’hui :",
      { link: stop_url },
    ],
  }),
  share_stopped: ({ share_id, business_name, groups, at, cease_by, contact, app_url }) => ({
    subject: "Vous avez arrêté un partage",
    lines: [
      `Le ${minuteOf(at)}, vous avez cessé de partager avec ${plainName(business_name)} : ${groupsIn("fr-CA", groups)}.`,
      `Nous l’en avisons. L’entreprise doit cesser de communiquer avec vous au plus tard à la fin du ${dayIn("fr-CA", cease_by)} (UTC).`,
      `Ce qu’elle détient déjà, c’est à elle de l’effacer. Demandez-le-lui${contact === null ? "." : ` : ${reachableContact(contact)}`}`,
      "Nous vous écrirons quand elle le confirmera, ou quand ce jour sera passé sans réponse.",
      `On communique encore avec vous après ce jour ? Citez ce numéro : ${share_id}. Votre dossier :`,
      { link: app_url },
    ],
  }),
  share_ceased: ({ share_id, business_name, at, note }) => ({
    subject: "Une entreprise dit avoir cessé de communiquer",
    lines: [
      `${plainName(business_name)} a confirmé le ${minuteOf(at)} que les communications fondées sur le partage arrêté ont cessé.`,
      ...(note === null ? [] : [`Son mot : ${plainName(note)}`]),
      "Votre dossier garde le partage et cette confirmation, avec leurs preuves.",
      `Si l’on communique quand même avec vous, gardez le message et citez ${share_id}.`,
    ],
  }),
  share_overdue: ({ share_id, business_name, cease_by, contact }) => ({
    subject: "Un délai est passé",
    lines: [
      `${plainName(business_name)} avait jusqu’au ${dayIn("fr-CA", cease_by)} pour confirmer que les communications ont cessé. Elle ne l’a pas fait.`,
      "Elles ont peut-être cessé malgré tout.",
      `Sinon, peuvent vous aider : ${contact === null ? "" : `${reachableContact(contact)}; `}votre autorité de protection des données.`,
      `Citez ce numéro : ${share_id}`,
    ],
  }),
  share_owner_notice: ({ share_ids, cease_by }) => ({
    subject: "Un partage a été arrêté",
    lines: [
      "Une personne a cessé de partager ses renseignements avec vous. Le numéro de chaque partage :",
      ...share_ids,
      `Les communications fondées sur ce partage doivent cesser au plus tard le ${dayIn("fr-CA", cease_by)}, à minuit UTC (${isoOf(cease_by)}).`,
      "Confirmez-le quand elles ont cessé : POST /v1/shares/{id}/cease-ack.",
    ],
  }),
  agent_changed: ({ token_id, at, app_url }) => ({
    subject: "Votre assistant a changé quelque chose",
    lines: [
      `Le ${minuteOf(at)}, un assistant à qui vous avez donné un jeton a arrêté un partage ou modifié une de vos coordonnées.`,
      `Le jeton est ${token_id}. Ce qu’il a fait figure dans votre historique; nous n’écrirons pas de nouveau pour la prochaine heure.`,
      "Ce n’est pas ce que vous vouliez ? Mettez fin au jeton et consultez votre historique :",
      { link: app_url },
    ],
  }),
  account_deleted: ({ at }) => ({
    subject: "Votre compte est supprimé",
    lines: [
      `Vous avez supprimé votre compte le ${minuteOf(at)}. Vos renseignements, vos sessions et cette adresse n’y sont plus.`,
      "Tout ce que vous partagiez est arrêté. Chaque entreprise en est avisée et doit cesser de communiquer avec vous dans son délai.",
      "Il reste la trace que ces partages ont existé, sans vous, et les certificats des formulaires que vous avez envoyés : ils appartiennent à ces formulaires. Vous pouvez toujours retirer votre consentement sur la page de chacun.",
      "C’est notre dernier courriel à ce sujet. Ce n’était pas vous ? Quelqu’un d’autre a donc pu lire vos courriels : changez-en le mot de passe.",
    ],
  }),
  removal_completed: ({ completed, asked, recheck_at, affidavit_url }) => ({
    subject: "Votre demande de retrait est terminée",
    lines: [
      `${completed} endroits sur ${asked} vous ont retiré. La déclaration signée se trouve ici :`,
      { link: affidavit_url },
      "Elle nomme chaque endroit et ce qu’a donné la demande.",
      `Nous regarderons de nouveau le ${dayIn("fr-CA", recheck_at)}.`,
    ],
  }),
  agent_connected: ({ client_name, client_host, redirect_host, at, end_url }) => ({
    subject: "Un assistant a été connecté",
    lines: [
      `Le ${minuteOf(at)}, vous avez permis la connexion de ce programme :`,
      plainName(client_name),
      client_host === null
        ? `Il s’est donné ce nom lui-même et nous n’avons pas pu le vérifier. Son accès est allé à ${redirect_host}.`
        : `${client_host} en répond. Son accès est allé à ${redirect_host}.`,
      "Il peut lire vos dossiers et, pour une personne, corriger des coordonnées et arrêter des partages. Il ne peut rien accepter. Ce n’était pas vous, ou vous n’en voulez plus ? Mettez-y fin ici :",
      { link: end_url },
    ],
  }),
  agent_ending: ({ client_name, until, end_url }) => ({
    subject: "La connexion de votre assistant prend bientôt fin",
    lines: [
      `Le ${dayIn("fr-CA", until)}, la connexion de ce programme prend fin d’elle-même :`,
      plainName(client_name),
      "Chaque connexion fonctionne pendant 90 jours. Si vous la voulez encore, connectez alors le programme de nouveau à partir de ses réglages. Pour y mettre fin maintenant :",
      { link: end_url },
    ],
  }),
  webhook_failing: ({ webhook_id, failing_since, failures }) => ({
    subject: "Un webhook est en échec",
    lines: [
      "L’un de vos webhooks n’accepte pas ce que nous lui envoyons. Le webhook est :",
      webhook_id,
      `Il a échoué ${failures} fois de suite, depuis ${minuteOf(failing_since)}. Il reste activé.`,
      "Tous les événements se trouvent aussi dans GET /v1/events : lisez-y, dans l’ordre, ce qui manque.",
    ],
  }),
  client_limit_near: ({ client_id, until }) => ({
    subject: "Un formulaire approche de sa limite du jour",
    lines: [
      "Les envois sans clé d’API approchent de la limite quotidienne de votre client :",
      client_id,
      `Au-delà de la limite, ils sont refusés jusqu’à ${minuteOf(until)} : les formulaires fonctionnent toujours, mais ce qui est envoyé ne reçoit pas de certificat.`,
      "Les envois que fait votre serveur avec votre clé d’API ne comptent pas. S’il y en a plus que prévu, quelqu’un envoie peut-être en votre nom ; sinon, demandez-nous une limite plus élevée.",
    ],
  }),
};

const templates: Readonly<Record<MailLanguage, Words>> = { en, es, "fr-CA": frCa };

/** The words of a mail in a language. */
export const mailText = (language: MailLanguage, mail: Mail): MailText =>
  (templates[language][mail.template] as (data: Mail["data"]) => MailText)(mail.data);
