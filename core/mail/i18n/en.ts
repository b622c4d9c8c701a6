// The text of all emails in English.
import { toIso } from "../../time.ts";
import { toPlainName } from "../message.ts";
import type { MailMessages } from "../templates.ts";
import { formatDate, formatFieldGroups, formatNameLines, formatMinute, formatBusinessContact, formatContact } from "../formatting.ts";

export const en: MailMessages = {
  login_code: ({ code }) => [
    "Your sign-in code",
    "Here is your code to sign in:",
    { code },
    "It is valid for 10 minutes and works once. Nobody from us will ever ask you for it.",
    "You did not want to sign in? Then you can ignore this mail: without the code nobody gets in.",
  ],
  passkey_added: ({ at, device }) => [
    "A passkey was added to your account",
    `Since ${formatMinute(at)} a new passkey signs in to your account${device === null ? "" : ` (${device})`}.`,
    "If it was you, there is nothing to do.",
    "It was not you? Then sign in with a code, remove the passkey and end all other sessions.",
    "Whoever added it could read your mail or had a device of yours. Change the password of your mailbox too.",
  ],
  signup_code: ({ code }) => [
    "Your code to open an account",
    "Here is your code to open an account for your business:",
    { code },
    "It is valid for 10 minutes and works once. Nobody from us will ever ask you for it.",
    "You did not ask for an account? Then you can ignore this mail: without the code there will be none.",
  ],
  member_invited: ({ businessName, signInUrl, until }) => [
    "You are invited to a business account",
    `You are invited to the account of: ${toPlainName(businessName)}. To accept, sign in with this address here; you get a code by mail:`,
    { link: signInUrl },
    `The invitation is good until ${formatMinute(until)}. If you act for another business already, you find it in the portal under Invitations; what you have stays as it is.`,
    "You do not know this business? Then you can ignore this mail: nothing changes.",
  ],
  domain_missing: ({ domain, lapsesAt }) => [
    "The proof of one of your domains is missing",
    "We look for the proof of each of your domains once a week, and did not find the one of:",
    domain,
    `The domain stays verified until ${formatMinute(lapsesAt)}. Please publish the proof again before then; the portal shows it under Domains.`,
    "After that, forms on this domain get no certificates. Certificates that were issued stay as they are.",
  ],
  domain_lapsed: ({ domain }) => [
    "One of your domains is no longer verified",
    "The proof of one of your domains was missing for two weeks. It is no longer verified:",
    domain,
    "Forms on this domain get no certificates from now on. Publish the proof again and check it in the portal, under Domains.",
    "Certificates that were issued stay as they are.",
  ],
  withdrawal_code: ({ code, businessName, verifyUrl }) => [
    "Your code to withdraw consent",
    "Here is your code to withdraw your consent:",
    { code },
    "It is valid for 10 minutes and works once.",
    `The consent was given to: ${toPlainName(businessName)}. Instead of typing the code you can open its certificate here and press the button. This link works for a day:`,
    { link: verifyUrl },
    "You did not ask for this? Then you can ignore this mail: nothing changes.",
  ],
  withdrawal_confirmation: (data) => [
    "Your consent is withdrawn",
    data.by === "person"
      ? `You have withdrawn the consent you had given to: ${toPlainName(data.businessName)}.`
      : `This business has recorded that you withdrew the consent you had given to it: ${toPlainName(data.businessName)}.`,
    ...(data.entities === null
      ? [data.coversAllConsents ? "This goes for everything you had given to it with this address." : "This goes for one certificate."]
      : [
          "This goes for these recipients, and for no others:",
          ...formatNameLines(data.entities, (count) => `and ${count} more, all named on the certificate's page`),
        ]),
    `Contact under this consent must end by ${formatDate("en", data.ceaseBy)}, midnight UTC (${toIso(data.ceaseBy)}).`,
    "Your signed receipt. Keep it: it proves when you withdrew, and anyone can check it.",
    { link: data.receiptUrl },
    `If you are still contacted after that day, or did not want this, turn to: ${formatBusinessContact(data)}. Quote the number of the certificate:`,
    data.certId,
  ],
  withdrawal_owner_notice: ({ certIds, ceaseBy }) => [
    "A consent was withdrawn",
    "The person on your certificate has withdrawn consent. The number of each certificate:",
    ...certIds,
    `Contact under this consent must end by ${formatDate("en", ceaseBy)}, midnight UTC (${toIso(ceaseBy)}).`,
    "The certificate and its record are kept.",
  ],
  entities_owner_notice: ({ certId, entities, ceaseBy }) => [
    "A consent was withdrawn from recipients",
    "The person on your certificate has withdrawn consent from these recipients, and from no others:",
    ...formatNameLines(entities, (count) => `and ${count} more, all named on the certificate's page`),
    `Their contact under this consent must end by ${formatDate("en", ceaseBy)}, midnight UTC (${toIso(ceaseBy)}). The certificate stays active for the others. Its number:`,
    certId,
  ],
  share_receipt: ({ businessName, groups, host, purpose, until, stopUrl, appUrl }) => [
    "You shared details",
    `You shared your ${formatFieldGroups("en", groups)} with ${toPlainName(businessName)}, asked for on ${toPlainName(host)}.`,
    `For: ${toPlainName(purpose)}`,
    `Until: ${formatDate("en", until)}.`,
    "To stop at any time, open this link and press the button. You need not sign in:",
    { link: stopUrl },
    "Everything you share is listed here:",
    { link: appUrl },
    "Was this not you? Stop it with the link.",
  ],
  share_expiring: ({ businessName, groups, until, isTomorrow, renewUrl, stopUrl }) => [
    isTomorrow ? "A share ends tomorrow" : "A share ends in 7 days",
    `Your share of ${formatFieldGroups("en", groups)} with ${toPlainName(businessName)} ends on ${formatDate("en", until)}.`,
    "Do nothing and it ends by itself: then they may no longer use what they got under it.",
    "To keep it:",
    { link: renewUrl },
    "To stop it today:",
    { link: stopUrl },
  ],
  share_stopped: ({ shareId, businessName, groups, at, ceaseBy, contact, appUrl }) => [
    "You stopped a share",
    `You stopped sharing ${formatFieldGroups("en", groups)} with ${toPlainName(businessName)} on ${formatMinute(at)}.`,
    `We are telling them. They must stop contacting you by the end of ${formatDate("en", ceaseBy)} (UTC).`,
    `What they already hold is theirs to delete. Ask them${contact === null ? "." : `: ${formatContact(contact)}`}`,
    "We write again when they confirm, or when the day has passed without a word.",
    `Still contacted after that day? Quote this number: ${shareId}. Your record of it:`,
    { link: appUrl },
  ],
  share_ceased: ({ shareId, businessName, at, note }) => [
    "A business says contact has ended",
    `${toPlainName(businessName)} confirmed on ${formatMinute(at)} that contact under your stopped share has ended.`,
    ...(note === null ? [] : [`They wrote: ${toPlainName(note)}`]),
    "Your record keeps the share and this confirmation, with their proofs.",
    `If you are contacted all the same, keep the message and quote ${shareId}.`,
  ],
  share_overdue: ({ shareId, businessName, ceaseBy, contact }) => [
    "A deadline has passed",
    `${toPlainName(businessName)} had until ${formatDate("en", ceaseBy)} to confirm that contact has ended. It has not.`,
    "It may have ended all the same.",
    `If you are still contacted, these can help: ${contact === null ? "" : `${formatContact(contact)}; `}your data protection authority.`,
    `Quote this number: ${shareId}`,
  ],
  share_owner_notice: ({ shareIds, ceaseBy }) => [
    "A share was stopped",
    "A person has stopped sharing their details with you. The number of each share:",
    ...shareIds,
    `Contact under it must end by ${formatDate("en", ceaseBy)}, midnight UTC (${toIso(ceaseBy)}).`,
    "Acknowledge it when it has: POST /v1/shares/{id}/cease-ack.",
  ],
  agent_changed: ({ tokenId, at, appUrl }) => [
    "Your assistant changed something",
    `On ${formatMinute(at)} an assistant that you gave a token to ended a share of yours or changed a contact field.`,
    `The token is ${tokenId}. What it did stands in your history; what it does within the hour is not mailed again.`,
    "Was this not what you wanted? End the token and look at your history:",
    { link: appUrl },
  ],
  account_deleted: ({ at }) => [
    "Your account is deleted",
    `You deleted your account on ${formatMinute(at)}. Your details, your sessions and this address are gone from it.`,
    "Everything you shared has been stopped. Each business has been told, and must stop contacting you within its deadline.",
    "What stays is the record that the shares existed, without you, and the certificates of forms you sent: those belong to the forms. You can still withdraw from each on its own page.",
    "This is our last mail about it. Was this not you? Then somebody else could read your mail: change its password.",
  ],
  removal_completed: ({ completedCount, targetCount, recheckAt, affidavitUrl }) => [
    "Your removal request is complete",
    `${completedCount} of ${targetCount} places removed you. The affidavit, signed, is here:`,
    { link: affidavitUrl },
    "It names each place and what came of asking it.",
    `We look again on ${formatDate("en", recheckAt)}.`,
  ],
  agent_connected: ({ clientName, clientHost, redirectHost, at, endUrl }) => [
    "An assistant was connected",
    `On ${formatMinute(at)} you let this program be connected:`,
    toPlainName(clientName),
    clientHost === null
      ? `It gave itself this name, and we could not check it. Its access went to ${redirectHost}.`
      : `${clientHost} vouches for it. Its access went to ${redirectHost}.`,
    "It can read your records and, for a person, correct contact fields and stop shares. It can agree to nothing. Was this not you, or no longer wanted? End it here:",
    { link: endUrl },
  ],
  agent_ending: ({ clientName, until, endUrl }) => [
    "Your assistant’s connection is about to end",
    `On ${formatDate("en", until)} the connection of this program ends by itself:`,
    toPlainName(clientName),
    "Each connection works for 90 days. If you still want it, connect the program anew from its own settings then. To end it now:",
    { link: endUrl },
  ],
  webhook_failing: ({ webhookId, failingSince, failures }) => [
    "A webhook endpoint is failing",
    "One of your webhook endpoints does not accept what we send it. The endpoint is:",
    webhookId,
    `It has failed ${failures} times in a row, since ${formatMinute(failingSince)}. It stays switched on.`,
    "Every event is also in the feed, GET /v1/events: read what you missed there, in order.",
  ],
  client_limit_near: ({ clientId, until }) => [
    "A form is close to its limit of today",
    "Submissions without an API key are close to the limit of a day for your client:",
    clientId,
    `Beyond the limit they are refused until ${formatMinute(until)}: the forms still work, and those sent get no certificate.`,
    "Submissions that your server sends with your API key do not count. If this is more than you expect, somebody may be sending in your name; otherwise ask us for a higher limit.",
  ],
};
