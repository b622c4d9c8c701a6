// The text of all emails in Spanish.
import { toIso } from "../../time.ts";
import { toPlainName } from "../message.ts";
import type { MailMessages } from "../templates.ts";
import { formatDate, formatFieldGroups, formatNameLines, formatMinute, formatBusinessContact, formatContact } from "../formatting.ts";

export const es: MailMessages = {
  login_code: ({ code }) => [
    "Su código para entrar",
    "Este es su código para entrar:",
    { code },
    "Vale 10 minutos y sirve una sola vez. Nadie de nuestra parte se lo pedirá nunca.",
    "¿No quería entrar? Entonces puede ignorar este correo: sin el código no entra nadie.",
  ],
  passkey_added: ({ at, device }) => [
    "Se ha añadido una llave de acceso a su cuenta",
    `Desde el ${formatMinute(at)} una nueva llave de acceso permite entrar en su cuenta${device === null ? "" : ` (${device})`}.`,
    "Si ha sido usted, no tiene que hacer nada.",
    "¿No ha sido usted? Entonces entre con un código, elimine la llave y cierre todas las demás sesiones.",
    "Quien la añadió pudo leer su correo o tenía un dispositivo suyo. Cambie también la contraseña de su buzón.",
  ],
  signup_code: ({ code }) => [
    "Su código para abrir una cuenta",
    "Este es su código para abrir una cuenta para su empresa:",
    { code },
    "Vale 10 minutos y sirve una sola vez. Nadie de nuestra parte se lo pedirá nunca.",
    "¿No ha pedido una cuenta? Entonces puede ignorar este correo: sin el código no habrá ninguna.",
  ],
  member_invited: ({ businessName, signInUrl, until }) => [
    "Le invitan a la cuenta de una empresa",
    `Le invitan a la cuenta de: ${toPlainName(businessName)}. Para aceptar, entre aquí con esta dirección; recibirá un código por correo:`,
    { link: signInUrl },
    `La invitación vale hasta ${formatMinute(until)}. Si ya actúa por otra empresa, la encontrará en el portal, en Invitations; lo que tiene queda como está.`,
    "¿No conoce esta empresa? Entonces puede ignorar este correo: no cambia nada.",
  ],
  domain_missing: ({ domain, lapsesAt }) => [
    "Falta la prueba de uno de sus dominios",
    "Buscamos la prueba de cada uno de sus dominios una vez por semana, y no hemos encontrado la de:",
    domain,
    `El dominio sigue verificado hasta ${formatMinute(lapsesAt)}. Publique de nuevo la prueba antes de esa fecha; el portal la muestra en Dominios.`,
    "Después, los formularios de este dominio no reciben certificados. Los certificados ya emitidos siguen como están.",
  ],
  domain_lapsed: ({ domain }) => [
    "Uno de sus dominios ya no está verificado",
    "La prueba de uno de sus dominios ha faltado durante dos semanas. Ya no está verificado:",
    domain,
    "Desde ahora los formularios de este dominio no reciben certificados. Publique de nuevo la prueba y compruébela en el portal, en Dominios.",
    "Los certificados ya emitidos siguen como están.",
  ],
  withdrawal_code: ({ code, businessName, verifyUrl }) => [
    "Su código para retirar el consentimiento",
    "Este es su código para retirar su consentimiento:",
    { code },
    "Vale 10 minutos y sirve una sola vez.",
    `El consentimiento se dio a: ${toPlainName(businessName)}. En lugar de escribir el código puede abrir aquí su certificado y pulsar el botón. Este enlace vale un día:`,
    { link: verifyUrl },
    "¿No lo ha pedido usted? Entonces puede ignorar este correo: no cambia nada.",
  ],
  withdrawal_confirmation: (data) => [
    "Su consentimiento está retirado",
    data.by === "person"
      ? `Ha retirado el consentimiento que dio a: ${toPlainName(data.businessName)}.`
      : `Esta empresa ha registrado que usted retiró el consentimiento que le dio: ${toPlainName(data.businessName)}.`,
    ...(data.entities === null
      ? [data.coversAllConsents ? "Vale para todo lo que le dio con esta dirección." : "Vale para un certificado."]
      : [
          "Vale para estos destinatarios, y para ningún otro:",
          ...formatNameLines(data.entities, (count) => `y ${count} más, todos en la página del certificado`),
        ]),
    `El contacto basado en él debe terminar a más tardar el ${formatDate("es", data.ceaseBy)}, medianoche UTC (${toIso(data.ceaseBy)}).`,
    "Su recibo firmado. Guárdelo: prueba cuándo lo retiró, y cualquiera puede comprobarlo.",
    { link: data.receiptUrl },
    `Si después de ese día aún le contactan, o si no quería esto, diríjase a: ${formatBusinessContact(data)}. Indique el número del certificado:`,
    data.certId,
  ],
  withdrawal_owner_notice: ({ certIds, ceaseBy }) => [
    "Se ha retirado un consentimiento",
    "La persona de su certificado ha retirado el consentimiento. El número de cada certificado:",
    ...certIds,
    `El contacto basado en él debe terminar a más tardar el ${formatDate("es", ceaseBy)}, medianoche UTC (${toIso(ceaseBy)}).`,
    "El certificado y su registro se conservan.",
  ],
  entities_owner_notice: ({ certId, entities, ceaseBy }) => [
    "Se ha retirado un consentimiento a destinatarios",
    "La persona de su certificado ha retirado el consentimiento a estos destinatarios, y a ningún otro:",
    ...formatNameLines(entities, (count) => `y ${count} más, todos en la página del certificado`),
    `Su contacto basado en él debe terminar a más tardar el ${formatDate("es", ceaseBy)}, medianoche UTC (${toIso(ceaseBy)}). El certificado sigue activo para los demás. Su número:`,
    certId,
  ],
  share_receipt: ({ businessName, groups, host, purpose, until, stopUrl, appUrl }) => [
    "Ha compartido sus datos",
    `Ha compartido con ${toPlainName(businessName)} estos datos, que pidió en ${toPlainName(host)}: ${formatFieldGroups("es", groups)}.`,
    `Para: ${toPlainName(purpose)}`,
    `Hasta: ${formatDate("es", until)}.`,
    "Para dejar de compartir cuando quiera, abra este enlace y pulse el botón. No hace falta entrar:",
    { link: stopUrl },
    "Todo lo que comparte está aquí:",
    { link: appUrl },
    "¿No ha sido usted? Deténgalo con el enlace.",
  ],
  share_expiring: ({ businessName, groups, until, isTomorrow, renewUrl, stopUrl }) => [
    isTomorrow ? "Mañana deja de compartir unos datos" : "En 7 días deja de compartir unos datos",
    `Lo que comparte con ${toPlainName(businessName)} (${formatFieldGroups("es", groups)}) termina el ${formatDate("es", until)}.`,
    "Si no hace nada, termina por sí solo: entonces ya no pueden usar lo que recibieron.",
    "Para seguir compartiendo:",
    { link: renewUrl },
    "Para terminar hoy:",
    { link: stopUrl },
  ],
  share_stopped: ({ shareId, businessName, groups, at, ceaseBy, contact, appUrl }) => [
    "Ha dejado de compartir",
    `El ${formatMinute(at)} dejó de compartir con ${toPlainName(businessName)}: ${formatFieldGroups("es", groups)}.`,
    `Se lo estamos comunicando. Deben dejar de contactarle a más tardar al final del ${formatDate("es", ceaseBy)} (UTC).`,
    `Lo que ya tienen les toca a ellos borrarlo. Pídaselo${contact === null ? "." : `: ${formatContact(contact)}`}`,
    "Le escribiremos cuando lo confirmen, o cuando pase ese día sin respuesta.",
    `¿Le contactan después de ese día? Indique este número: ${shareId}. Su registro:`,
    { link: appUrl },
  ],
  share_ceased: ({ shareId, businessName, at, note }) => [
    "Una empresa dice que el contacto ha terminado",
    `${toPlainName(businessName)} confirmó el ${formatMinute(at)} que el contacto basado en lo que dejó de compartir ha terminado.`,
    ...(note === null ? [] : [`Escribieron: ${toPlainName(note)}`]),
    "Su registro guarda lo compartido y esta confirmación, con sus pruebas.",
    `Si le contactan a pesar de todo, guarde el mensaje e indique ${shareId}.`,
  ],
  share_overdue: ({ shareId, businessName, ceaseBy, contact }) => [
    "Ha pasado un plazo",
    `${toPlainName(businessName)} tenía hasta el ${formatDate("es", ceaseBy)} para confirmar que el contacto ha terminado. No lo ha hecho.`,
    "Puede que haya terminado de todos modos.",
    `Si le siguen contactando, pueden ayudarle: ${contact === null ? "" : `${formatContact(contact)}; `}su autoridad de protección de datos.`,
    `Indique este número: ${shareId}`,
  ],
  share_owner_notice: ({ shareIds, ceaseBy }) => [
    "Alguien ha dejado de compartir",
    "Una persona ha dejado de compartir sus datos con ustedes. El número de cada caso:",
    ...shareIds,
    `El contacto basado en ellos debe terminar a más tardar el ${formatDate("es", ceaseBy)}, medianoche UTC (${toIso(ceaseBy)}).`,
    "Confírmenlo cuando haya terminado: POST /v1/shares/{id}/cease-ack.",
  ],
  agent_changed: ({ tokenId, at, appUrl }) => [
    "Su asistente ha cambiado algo",
    `El ${formatMinute(at)}, un asistente al que dio un token dejó de compartir algo suyo o cambió un dato de contacto.`,
    `El token es ${tokenId}. Lo que hizo consta en su historial; de lo que haga en la próxima hora no le escribiremos otra vez.`,
    "¿No era lo que quería? Anule el token y consulte su historial:",
    { link: appUrl },
  ],
  account_deleted: ({ at }) => [
    "Su cuenta se ha eliminado",
    `Usted eliminó su cuenta el ${formatMinute(at)}. Sus datos, sus sesiones y esta dirección ya no están en ella.`,
    "Todo lo que compartía se ha detenido. Se ha avisado a cada empresa, que debe dejar de contactarle dentro de su plazo.",
    "Queda constancia de que hubo esos permisos, sin usted, y quedan los certificados de los formularios que envió: pertenecen a esos formularios. Puede retirarse de cada uno en su página.",
    "Este es nuestro último correo sobre ello. ¿No ha sido usted? Entonces otra persona pudo leer su correo: cambie la contraseña.",
  ],
  removal_completed: ({ completedCount, targetCount, recheckAt, affidavitUrl }) => [
    "Su solicitud de eliminación está completa",
    `${completedCount} de ${targetCount} sitios le han eliminado. La declaración firmada está aquí:`,
    { link: affidavitUrl },
    "Nombra cada sitio y lo que resultó de preguntarle.",
    `Volveremos a mirar el ${formatDate("es", recheckAt)}.`,
  ],
  agent_connected: ({ clientName, clientHost, redirectHost, at, endUrl }) => [
    "Se ha conectado un asistente",
    `El ${formatMinute(at)} permitió que se conectara este programa:`,
    toPlainName(clientName),
    clientHost === null
      ? `Se ha dado ese nombre él mismo y no hemos podido comprobarlo. Su acceso fue a ${redirectHost}.`
      : `${clientHost} responde de él. Su acceso fue a ${redirectHost}.`,
    "Puede leer sus registros y, en el caso de una persona, corregir datos de contacto y dejar de compartir. No puede aceptar nada. ¿No fue usted o ya no lo quiere? Anúlelo aquí:",
    { link: endUrl },
  ],
  agent_ending: ({ clientName, until, endUrl }) => [
    "La conexión de su asistente está por terminar",
    `El ${formatDate("es", until)} termina por sí sola la conexión de este programa:`,
    toPlainName(clientName),
    "Cada conexión funciona durante 90 días. Si la quiere conservar, conecte entonces el programa de nuevo desde sus ajustes. Para terminarla ahora:",
    { link: endUrl },
  ],
  webhook_failing: ({ webhookId, failingSince, failures }) => [
    "Un webhook está fallando",
    "Uno de sus webhooks no acepta lo que le enviamos. El webhook es:",
    webhookId,
    `Ha fallado ${failures} veces seguidas, desde ${formatMinute(failingSince)}. Sigue activado.`,
    "Todos los eventos están también en GET /v1/events: lea allí, en orden, lo que le falte.",
  ],
  client_limit_near: ({ clientId, until }) => [
    "Un formulario está cerca de su límite de hoy",
    "Los envíos sin clave de API están cerca del límite diario de su cliente:",
    clientId,
    `Más allá del límite se rechazan hasta ${formatMinute(until)}: los formularios siguen funcionando, pero lo enviado no recibe certificado.`,
    "Los envíos que hace su servidor con su clave de API no cuentan. Si son más de los que espera, puede que alguien envíe en su nombre; si no, pídanos un límite mayor.",
  ],
};
