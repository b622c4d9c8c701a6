// Toutes les phrases des pages, en français du Canada. / Every sentence of the pages, in Canadian French.
import type { Words } from "./words.ts";

export const frCa: Words = {
  certificate: "Certificat de consentement",
  language: "Langue",
  skip: "Aller au contenu",
  footer: "Ce qui a été vérifié est indiqué à côté de chaque donnée. Rien d’autre ne l’a été.",

  active: "En vigueur",
  withdrawn: "Retiré",
  sandbox: "Essai",
  issuedOn: "Délivré le {date}",
  summary:
    "Ce certificat a été délivré lorsqu’un formulaire de {domain} a été envoyé à {business}. Il conserve le texte affiché, les destinataires nommés et le moment de l’envoi, de sorte que rien de cela ne puisse être modifié sans que cela se voie.",
  summaryWithdrawn: "La personne a retiré ce consentement. Les destinataires nommés ci-dessous doivent cesser de communiquer avec elle.",
  summarySandbox: "Fait avec des données d’essai pour essayer le service. Il ne prouve le consentement de personne.",

  shown: "Ce qui a été affiché",
  invisibleCharacters: "Contient des caractères qui ne se voient pas\u00a0:",
  mixedAlphabets: "Mélange des alphabets dont les lettres se ressemblent\u00a0:",
  alphabets: {
    Latin: "latin",
    Greek: "grec",
    Cyrillic: "cyrillique",
    Armenian: "arménien",
    Cherokee: "cherokee",
    Coptic: "copte",
    Lisu: "lisu",
  },

  recipients: "Qui peut communiquer",
  namedOne: "Le formulaire nommait ce destinataire.",
  namedTogether: "Le formulaire nommait ces destinataires ensemble. Il n’a pas posé la question pour chacun séparément.",
  askedEach: "Le formulaire a posé la question pour chaque destinataire séparément.",
  accepted: "Acceptés",
  declined: "Refusés",
  notAsked: "Nommés, sans que la question soit posée",
  nobody: "Aucun.",
  furtherRecipients: "{count} autres destinataires",

  details: "But, lieu et personne",
  purpose: "But",
  website: "Site Web",
  person: "Personne",
  signal: "Signal du navigateur",
  signalGpc: "Le navigateur a demandé aux sites de ne pas vendre ni communiquer les données de son utilisateur (Global Privacy Control).",
  masked: "Masqué, sauf ce qu’il faut pour se reconnaître.",
  leftEmpty: "laissé vide",
  erased: "Les renseignements de la personne ont été effacés. Tout le reste de ce certificat peut encore être vérifié.",
  checks: {
    origin_browser:
      "La requête a indiqué cette origine, qui se trouvait sur un domaine vérifié de l’entreprise. Un navigateur indique ce nom lui-même; d’autres programmes peuvent le choisir.",
    origin_server: "La requête provenait d’un serveur qui a indiqué cette origine, qui se trouvait sur un domaine vérifié de l’entreprise.",
    domain: "L’entreprise avait prouvé qu’elle contrôle le domaine avant la délivrance de ce certificat.",
    subject: "Les renseignements de la personne sont ceux qui ont été saisis dans le formulaire; nul ne les a vérifiés.",
  },
  fields: {
    email: "Courriel",
    phone: "Téléphone",
    mobile: "Téléphone mobile",
    first_name: "Prénom",
    last_name: "Nom",
    full_name: "Nom complet",
    company: "Entreprise",
    job_title: "Fonction",
    address_line1: "Adresse",
    address_line2: "Adresse, deuxième ligne",
    city: "Ville",
    state: "Province ou État",
    zip: "Code postal",
    postal_code: "Code postal",
    country: "Pays",
    date_of_birth: "Date de naissance",
    message: "Message",
    consent_channel: "Moyen",
  },

  timeline: "Ce qui s’est passé",
  issued: "Délivré",
  logged: "Inscrit au journal d’audit",
  loggedPending: "En attente d’inscription au journal d’audit",
  anchored: "Ancré dans le registre {ledger}",
  anchoredPending: "En attente d’ancrage dans le registre {ledger}",
  anchoredPendingNote: "Une fois ancré, d’autres pourront attester quand ce certificat existait.",
  openedNever: "Cette page n’a pas encore été ouverte",
  openedOnce: "Cette page a été ouverte une fois",
  openedTimes: "Cette page a été ouverte {count} fois",
  withdrawnByPerson: "Retiré par la personne",

  check: "Vérifiez vous-même",
  checkIntro:
    "L’empreinte est le SHA-256 de l’enregistrement ci-dessous, qui contient tout ce que ce certificat lie. Qu’une seule lettre change, et ils ne concordent plus.",
  fingerprint: "Empreinte",
  notChecked:
    "Pas encore vérifiée. Là où les scripts sont permis, votre navigateur la vérifie ici; sinon, vérifiez-la à la main comme décrit ci-dessous.",
  match: "Concorde. Votre navigateur vient de recalculer l’empreinte, et cette page affiche ce que dit l’enregistrement.",
  mismatch: "Ne concorde pas. Ne vous fiez pas à cette page.",
  mismatchFingerprint: "L’empreinte n’est pas le SHA-256 de l’enregistrement.",
  mismatchPage: "Cette page affiche autre chose que ce que dit l’enregistrement\u00a0:",
  unable: "Ce navigateur ne peut pas calculer l’empreinte ici. Vérifiez-la à la main comme décrit ci-dessous.",
  record: "L’enregistrement derrière l’empreinte",
  certificateNumber: "Numéro du certificat",
  businessNumber: "Numéro de l’entreprise",
  disclosureHash: "SHA-256 du texte affiché",
  subjectHash: "SHA-256 salé des renseignements de la personne",
  byHand: "Vérifier à la main",
  byHandFile:
    "Enregistrez le texte tel quel, sans saut de ligne à la fin, sous le nom record.json. Cette commande affiche alors l’empreinte\u00a0:",
  byHandFetch:
    "Ou demandez au service lui-même, sans cette page. La première commande affiche l’empreinte, la seconde le SHA-256 du texte affiché\u00a0:",
  formatLink: "Comment un certificat est construit, et ce qui peut encore être vérifié",
  jsonLink: "Ce certificat en JSON",
  copy: "Copier",
  copyFingerprint: "Copier l’empreinte",
  copyRecord: "Copier l’enregistrement",
  copied: "Copié",

  policies: "Politiques de ce jour-là",
  privacy: "Politique de confidentialité",
  terms: "Conditions",
  policySaved: "enregistrée le {date}",
  policyHash: "SHA-256 de son texte",
  policiesPending: "La politique de confidentialité et les conditions du site n’ont pas encore été enregistrées. Revenez plus tard.",
  policiesUnavailable: "Aucune politique de confidentialité ni condition du site n’a pu être enregistrée.",

  isThisYou: "Est-ce vous?",
  tellBusiness:
    "Si vous avez envoyé ce formulaire et n’êtes plus d’accord, dites-le à {business} en indiquant le numéro du certificat {id}.",

  address: "Adresse de ce certificat",
  qr: "Code QR de l’adresse de ce certificat",

  notFound: "Il n’y a pas de certificat ici",
  notFoundAdvice:
    "Vérifiez l’adresse. Elle se termine par cc_ et 26 lettres et chiffres, exactement comme sur le certificat. Un certificat n’est jamais supprimé\u00a0: une adresse qui a été bonne le reste.",
  crowded: "Trop de certificats à la fois",
  crowdedAdvice:
    "Beaucoup de certificats ont été ouverts depuis votre réseau en peu de temps. Attendez {seconds} secondes, puis rechargez cette page.",
  readOnly: "Cette page ne peut qu’être lue",
  readOnlyAdvice: "Ouvrez l’adresse dans un navigateur pour voir ce qu’elle affiche.",
  outage: "Le certificat ne peut pas être lu pour l’instant",
  outageAdvice: "Les enregistrements n’ont pas pu être atteints. Rien n’est perdu. Rechargez cette page dans un moment.",
  failure: "Une erreur s’est produite de notre côté",
  failureAdvice: "Rien n’est perdu. Rechargez cette page dans un moment.",
  requestNumber: "Numéro de cette requête, si vous nous écrivez\u00a0:",

  format: {
    title: "Comment un certificat est construit",
    intro:
      "Tout ce qui suit peut être vérifié avec des outils courants, à partir de ce qu’affichent la page d’un certificat ou son JSON, sans nous croire sur parole.",
    record: "L’enregistrement",
    recordText:
      "L’enregistrement est une ligne de JSON dans la forme canonique de la RFC 8785\u00a0: membres triés par nom, aucune espace, texte exactement tel qu’il a été scellé. Son SHA-256 est l’empreinte. Il contient ces membres et aucun autre\u00a0:",
    members: {
      business: "Numéro de l’entreprise, et son nom tel qu’il était ce jour-là.",
      cert_id: "Numéro du certificat.",
      disclosure_hash: "SHA-256 du texte affiché, en UTF-8.",
      entities: "Les destinataires nommés, triés par unité de code UTF-16.",
      entities_accepted:
        "Seulement si le formulaire a posé la question pour chacun\u00a0: ceux que la personne a acceptés. Peut être vide.",
      entities_rejected: "Seulement si le formulaire a posé la question pour chacun\u00a0: ceux que la personne a refusés. Peut être vide.",
      origin_domain: "Hôte du site où se trouvait le formulaire.",
      purpose: "À quoi sert le consentement.",
      subject_hash: "Représente les renseignements de la personne; voir ci-dessous.",
      timestamp: "Quand le certificat a été délivré, en UTC.",
    },
    person: "La personne",
    personText:
      "Pour chaque champ, le SHA-256 du JSON canonique [salt, field, value] est un engagement; le sel compte 128 bits aléatoires. Le SHA-256 du JSON canonique de tous les engagements par champ est subject_hash. Qui détient un sel peut prouver un champ et rien de plus; nul autre ne peut tester une hypothèse.",
    signature: "La signature",
    signatureText: "Le service signe l’enregistrement avec Ed25519. La signature est dans le JSON; les clés publiques sont publiées\u00a0:",
    keysLink: "Clés publiques de l’émetteur",
    ledger: "Le registre",
    ledgerText:
      "Une déclaration de six membres (entity_id, event, fingerprint, origin_domain, schema, timestamp) est versée dans un registre; elle ne contient rien de personnel. Le JSON affiche la déclaration et son SHA-256 et, une fois ancrée, la preuve du registre.",
    limits: "Ce qu’il ne montre pas",
    limitsText:
      "Un certificat montre ce qu’un formulaire a envoyé et quand. Il ne montre pas qui était au clavier, ni que les renseignements saisis sont exacts. Un navigateur indique lui-même le site; d’autres programmes peuvent en indiquer n’importe lequel.",
  },
};
