// Every mail there is, in every language, to be read as text. To add one: its data in `MailData`, its life in `mailLifeMs`,
// its words in `templates`; the compiler asks for what is missing. What a business or a person chose is never in a subject.
import { dayMs, isoOf, minuteMs, type Instant } from "../time.ts";
import { plainName, type MailText } from "./message.ts";

export type MailLanguage = "en" | "es" | "fr-CA";

/** What each template is filled with. Kept sealed until the mail is sent. */
export interface MailData {
  /** To whoever asked to sign in. */
  readonly login_code: { readonly code: string };
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
  /** To the owners of a business: the certificates' ids and the deadline, and nothing of the person. */
  readonly withdrawal_owner_notice: { readonly cert_ids: readonly string[]; readonly cease_by: Instant };
  /** Likewise, of a withdrawal from single recipients. */
  readonly entities_owner_notice: { readonly cert_id: string; readonly entities: readonly string[]; readonly cease_by: Instant };
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
  signup_code: 10 * minuteMs,
  member_invited: 3 * dayMs,
  domain_missing: 3 * dayMs,
  domain_lapsed: 3 * dayMs,
  withdrawal_code: 10 * minuteMs,
  withdrawal_owner_notice: 3 * dayMs,
  entities_owner_notice: 3 * dayMs,
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
