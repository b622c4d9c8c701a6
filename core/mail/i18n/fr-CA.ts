// The text of all emails in Canadian French.
import { toIso } from "../../time.ts";
import { toPlainName } from "../message.ts";
import type { MailMessages } from "../templates.ts";
import { formatDate, formatFieldGroups, formatNameLines, formatMinute, formatBusinessContact, formatContact } from "../formatting.ts";

export const frCa: MailMessages = {
  login_code: ({ code }) => [
    "Votre code de connexion",
    "Voici votre code de connexion :",
    { code },
    "Il est valide 10 minutes et ne sert qu’une fois. Personne de chez nous ne vous le demandera jamais.",
    "Vous ne vouliez pas vous connecter ? Ignorez ce courriel : sans le code, personne n’entre.",
  ],
  passkey_added: ({ at, device }) => [
    "Une clé d’accès a été ajoutée à votre compte",
    `Depuis le ${formatMinute(at)}, une nouvelle clé d’accès permet de se connecter à votre compte${device === null ? "" : ` (${device})`}.`,
    "Si c’était vous, il n’y a rien à faire.",
    "Ce n’était pas vous ? Connectez-vous avec un code, supprimez la clé et fermez toutes les autres sessions.",
    "La personne qui l’a ajoutée a pu lire vos courriels ou tenait un de vos appareils. Changez aussi le mot de passe de votre messagerie.",
  ],
  signup_code: ({ code }) => [
    "Votre code pour ouvrir un compte",
    "Voici votre code pour ouvrir un compte pour votre entreprise :",
    { code },
    "Il est valide 10 minutes et ne sert qu’une fois. Personne de chez nous ne vous le demandera jamais.",
    "Vous n’avez pas demandé de compte ? Ignorez ce courriel : sans le code, il n’y en aura pas.",
  ],
  member_invited: ({ businessName, signInUrl, until }) => [
    "Vous êtes invité au compte d’une entreprise",
    `Vous êtes invité au compte de : ${toPlainName(businessName)}. Pour accepter, connectez-vous ici avec cette adresse ; vous recevrez un code par courriel :`,
    { link: signInUrl },
    `L’invitation est valide jusqu’au ${formatMinute(until)}. Si vous agissez déjà pour une autre entreprise, vous la trouverez dans le portail, sous Invitations ; ce que vous avez reste tel quel.`,
    "Vous ne connaissez pas cette entreprise ? Ignorez ce courriel : rien ne change.",
  ],
  domain_missing: ({ domain, lapsesAt }) => [
    "La preuve d’un de vos domaines est absente",
    "Nous cherchons la preuve de chacun de vos domaines une fois par semaine, et n’avons pas trouvé celle de :",
    domain,
    `Le domaine reste vérifié jusqu’au ${formatMinute(lapsesAt)}. Publiez de nouveau la preuve d’ici là ; le portail la montre sous Domaines.`,
    "Ensuite, les formulaires de ce domaine ne reçoivent plus de certificats. Les certificats déjà délivrés restent tels quels.",
  ],
  domain_lapsed: ({ domain }) => [
    "Un de vos domaines n’est plus vérifié",
    "La preuve d’un de vos domaines a été absente pendant deux semaines. Il n’est plus vérifié :",
    domain,
    "Désormais, les formulaires de ce domaine ne reçoivent plus de certificats. Publiez de nouveau la preuve et vérifiez-la dans le portail, sous Domaines.",
    "Les certificats déjà délivrés restent tels quels.",
  ],
  withdrawal_code: ({ code, businessName, verifyUrl }) => [
    "Votre code pour retirer votre consentement",
    "Voici votre code pour retirer votre consentement :",
    { code },
    "Il est valide 10 minutes et ne sert qu’une fois.",
    `Le consentement a été donné à : ${toPlainName(businessName)}. Au lieu de saisir le code, vous pouvez ouvrir ici son certificat et appuyer sur le bouton. Ce lien est valide un jour :`,
    { link: verifyUrl },
    "Vous n’avez rien demandé ? Ignorez ce courriel : rien ne change.",
  ],
  withdrawal_confirmation: (data) => [
    "Votre consentement est retiré",
    data.by === "person"
      ? `Vous avez retiré le consentement donné à : ${toPlainName(data.businessName)}.`
      : `Cette entreprise a noté que vous avez retiré le consentement que vous lui aviez donné : ${toPlainName(data.businessName)}.`,
    ...(data.entities === null
      ? [data.coversAllConsents ? "Cela vaut pour tout ce que vous lui aviez donné avec cette adresse." : "Cela vaut pour un certificat."]
      : [
          "Cela vaut pour ces destinataires, et pour aucun autre :",
          ...formatNameLines(data.entities, (count) => `et ${count} autres, tous nommés sur la page du certificat`),
        ]),
    `Les communications fondées sur ce consentement doivent cesser au plus tard le ${formatDate("fr-CA", data.ceaseBy)}, à minuit UTC (${toIso(data.ceaseBy)}).`,
    "Votre reçu signé. Conservez-le : il prouve quand vous avez retiré votre consentement, et chacun peut le vérifier.",
    { link: data.receiptUrl },
    `Si l’on communique encore avec vous après ce jour, ou si vous ne vouliez pas cela, adressez-vous à : ${formatBusinessContact(data)}. Indiquez le numéro du certificat :`,
    data.certId,
  ],
  withdrawal_owner_notice: ({ certIds, ceaseBy }) => [
    "Un consentement a été retiré",
    "La personne nommée sur votre certificat a retiré son consentement. Le numéro de chaque certificat :",
    ...certIds,
    `Les communications fondées sur ce consentement doivent cesser au plus tard le ${formatDate("fr-CA", ceaseBy)}, à minuit UTC (${toIso(ceaseBy)}).`,
    "Le certificat et son dossier sont conservés.",
  ],
  entities_owner_notice: ({ certId, entities, ceaseBy }) => [
    "Un consentement a été retiré à des destinataires",
    "La personne nommée sur votre certificat a retiré son consentement à ces destinataires, et à aucun autre :",
    ...formatNameLines(entities, (count) => `et ${count} autres, tous nommés sur la page du certificat`),
    `Leurs communications fondées sur ce consentement doivent cesser au plus tard le ${formatDate("fr-CA", ceaseBy)}, à minuit UTC (${toIso(ceaseBy)}). Le certificat reste actif pour les autres. Son numéro :`,
    certId,
  ],
  share_receipt: ({ businessName, groups, host, purpose, until, stopUrl, appUrl }) => [
    "Vous avez partagé vos renseignements",
    `Vous avez partagé avec ${toPlainName(businessName)} ce qui était demandé sur ${toPlainName(host)} : ${formatFieldGroups("fr-CA", groups)}.`,
    `Pour : ${toPlainName(purpose)}`,
    `Jusqu’au : ${formatDate("fr-CA", until)}.`,
    "Pour arrêter à tout moment, ouvrez ce lien et appuyez sur le bouton. Inutile de vous connecter :",
    { link: stopUrl },
    "Tout ce que vous partagez se trouve ici :",
    { link: appUrl },
    "Ce n’était pas vous ? Arrêtez le partage avec le lien.",
  ],
  share_expiring: ({ businessName, groups, until, isTomorrow, renewUrl, stopUrl }) => [
    isTomorrow ? "Un partage prend fin demain" : "Un partage prend fin dans 7 jours",
    `Votre partage avec ${toPlainName(businessName)} (${formatFieldGroups("fr-CA", groups)}) prend fin le ${formatDate("fr-CA", until)}.`,
    "Si vous ne faites rien, il prend fin de lui-même : l’entreprise ne peut alors plus utiliser ce qu’elle a reçu.",
    "Pour le garder :",
    { link: renewUrl },
    "Pour l’arrêter aujourd’hui :",
    { link: stopUrl },
  ],
  share_stopped: ({ shareId, businessName, groups, at, ceaseBy, contact, appUrl }) => [
    "Vous avez arrêté un partage",
    `Le ${formatMinute(at)}, vous avez cessé de partager avec ${toPlainName(businessName)} : ${formatFieldGroups("fr-CA", groups)}.`,
    `Nous l’en avisons. L’entreprise doit cesser de communiquer avec vous au plus tard à la fin du ${formatDate("fr-CA", ceaseBy)} (UTC).`,
    `Ce qu’elle détient déjà, c’est à elle de l’effacer. Demandez-le-lui${contact === null ? "." : ` : ${formatContact(contact)}`}`,
    "Nous vous écrirons quand elle le confirmera, ou quand ce jour sera passé sans réponse.",
    `On communique encore avec vous après ce jour ? Citez ce numéro : ${shareId}. Votre dossier :`,
    { link: appUrl },
  ],
  share_ceased: ({ shareId, businessName, at, note }) => [
    "Une entreprise dit avoir cessé de communiquer",
    `${toPlainName(businessName)} a confirmé le ${formatMinute(at)} que les communications fondées sur le partage arrêté ont cessé.`,
    ...(note === null ? [] : [`Son mot : ${toPlainName(note)}`]),
    "Votre dossier garde le partage et cette confirmation, avec leurs preuves.",
    `Si l’on communique quand même avec vous, gardez le message et citez ${shareId}.`,
  ],
  share_overdue: ({ shareId, businessName, ceaseBy, contact }) => [
    "Un délai est passé",
    `${toPlainName(businessName)} avait jusqu’au ${formatDate("fr-CA", ceaseBy)} pour confirmer que les communications ont cessé. Elle ne l’a pas fait.`,
    "Elles ont peut-être cessé malgré tout.",
    `Sinon, peuvent vous aider : ${contact === null ? "" : `${formatContact(contact)}; `}votre autorité de protection des données.`,
    `Citez ce numéro : ${shareId}`,
  ],
  share_owner_notice: ({ shareIds, ceaseBy }) => [
    "Un partage a été arrêté",
    "Une personne a cessé de partager ses renseignements avec vous. Le numéro de chaque partage :",
    ...shareIds,
    `Les communications fondées sur ce partage doivent cesser au plus tard le ${formatDate("fr-CA", ceaseBy)}, à minuit UTC (${toIso(ceaseBy)}).`,
    "Confirmez-le quand elles ont cessé : POST /v1/shares/{id}/cease-ack.",
  ],
  agent_changed: ({ tokenId, at, appUrl }) => [
    "Votre assistant a changé quelque chose",
    `Le ${formatMinute(at)}, un assistant à qui vous avez donné un jeton a arrêté un partage ou modifié une de vos coordonnées.`,
    `Le jeton est ${tokenId}. Ce qu’il a fait figure dans votre historique; nous n’écrirons pas de nouveau pour la prochaine heure.`,
    "Ce n’est pas ce que vous vouliez ? Mettez fin au jeton et consultez votre historique :",
    { link: appUrl },
  ],
  account_deleted: ({ at }) => [
    "Votre compte est supprimé",
    `Vous avez supprimé votre compte le ${formatMinute(at)}. Vos renseignements, vos sessions et cette adresse n’y sont plus.`,
    "Tout ce que vous partagiez est arrêté. Chaque entreprise en est avisée et doit cesser de communiquer avec vous dans son délai.",
    "Il reste la trace que ces partages ont existé, sans vous, et les certificats des formulaires que vous avez envoyés : ils appartiennent à ces formulaires. Vous pouvez toujours retirer votre consentement sur la page de chacun.",
    "C’est notre dernier courriel à ce sujet. Ce n’était pas vous ? Quelqu’un d’autre a donc pu lire vos courriels : changez-en le mot de passe.",
  ],
  removal_completed: ({ completedCount, targetCount, recheckAt, affidavitUrl }) => [
    "Votre demande de retrait est terminée",
    `${completedCount} endroits sur ${targetCount} vous ont retiré. La déclaration signée se trouve ici :`,
    { link: affidavitUrl },
    "Elle nomme chaque endroit et ce qu’a donné la demande.",
    `Nous regarderons de nouveau le ${formatDate("fr-CA", recheckAt)}.`,
  ],
  agent_connected: ({ clientName, clientHost, redirectHost, at, endUrl }) => [
    "Un assistant a été connecté",
    `Le ${formatMinute(at)}, vous avez permis la connexion de ce programme :`,
    toPlainName(clientName),
    clientHost === null
      ? `Il s’est donné ce nom lui-même et nous n’avons pas pu le vérifier. Son accès est allé à ${redirectHost}.`
      : `${clientHost} en répond. Son accès est allé à ${redirectHost}.`,
    "Il peut lire vos dossiers et, pour une personne, corriger des coordonnées et arrêter des partages. Il ne peut rien accepter. Ce n’était pas vous, ou vous n’en voulez plus ? Mettez-y fin ici :",
    { link: endUrl },
  ],
  agent_ending: ({ clientName, until, endUrl }) => [
    "La connexion de votre assistant prend bientôt fin",
    `Le ${formatDate("fr-CA", until)}, la connexion de ce programme prend fin d’elle-même :`,
    toPlainName(clientName),
    "Chaque connexion fonctionne pendant 90 jours. Si vous la voulez encore, connectez alors le programme de nouveau à partir de ses réglages. Pour y mettre fin maintenant :",
    { link: endUrl },
  ],
  webhook_failing: ({ webhookId, failingSince, failures }) => [
    "Un webhook est en échec",
    "L’un de vos webhooks n’accepte pas ce que nous lui envoyons. Le webhook est :",
    webhookId,
    `Il a échoué ${failures} fois de suite, depuis ${formatMinute(failingSince)}. Il reste activé.`,
    "Tous les événements se trouvent aussi dans GET /v1/events : lisez-y, dans l’ordre, ce qui manque.",
  ],
  client_limit_near: ({ clientId, until }) => [
    "Un formulaire approche de sa limite du jour",
    "Les envois sans clé d’API approchent de la limite quotidienne de votre client :",
    clientId,
    `Au-delà de la limite, ils sont refusés jusqu’à ${formatMinute(until)} : les formulaires fonctionnent toujours, mais ce qui est envoyé ne reçoit pas de certificat.`,
    "Les envois que fait votre serveur avec votre clé d’API ne comptent pas. S’il y en a plus que prévu, quelqu’un envoie peut-être en votre nom ; sinon, demandez-nous une limite plus élevée.",
  ],
};
