// The mails in Spanish, to be read as text.
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
  member_invited: ({ business_name, sign_in_url, until }) => [
    "Le invitan a la cuenta de una empresa",
    `Le invitan a la cuenta de: ${toPlainName(business_name)}. Para aceptar, entre aquí con esta dirección; recibirá un código por correo:`,
    { link: sign_in_url },
    `La invitación vale hasta ${formatMinute(until)}. Si ya actúa por otra empresa, la encontrará en el portal, en Invitations; lo que tiene queda como está.`,
    "¿No conoce esta empresa? Entonces puede ignorar este correo: no cambia nada.",
  ],
  domain_missing: ({ domain, lapses_at }) => [
    "Falta la prueba de uno de sus dominios",
    "Buscamos la prueba de cada uno de sus dominios una vez por semana, y no hemos encontrado la de:",
    domain,
    `El dominio sigue verificado hasta ${formatMinute(lapses_at)}. Publique de nuevo la prueba antes de esa fecha; el portal la muestra en Dominios.`,
    "Después, los formularios de este dominio no reciben certificados. Los certificados ya emitidos siguen como están.",
  ],
  domain_lapsed: ({ domain }) => [
    "Uno de sus dominios ya no está verificado",
    "La prueba de uno de sus dominios ha faltado durante dos semanas. Ya no está verificado:",
    domain,
    "Desde ahora los formularios de este dominio no reciben certificados. Publique de nuevo la prueba y compruébela en el portal, en Dominios.",
    "Los certificados ya emitidos siguen como están.",
  ],
  withdrawal_code: ({ code, business_name, verify_url }) => [
    "Su código para retirar el consentimiento",
    "Este es su código para retirar su consentimiento:",
    { code },
    "Vale 10 minutos y sirve una sola vez.",
    `El consentimiento se dio a: ${toPlainName(business_name)}. En lugar de escribir el código puede abrir aquí su certificado y pulsar el botón. Este enlace vale un día:`,
    { link: verify_url },
    "¿No lo ha pedido usted? Entonces puede ignorar este correo: no cambia nada.",
  ],
  withdrawal_confirmation: (data) => [
    "Su consentimiento está retirado",
    data.by === "person"
      ? `Ha retirado el consentimiento que dio a: ${toPlainName(data.business_name)}.`
      : `Esta empresa ha registrado que usted retiró el consentimiento que le dio: ${toPlainName(data.business_name)}.`,
    ...(data.entities === null
      ? [data.is_everything ? "Vale para todo lo que le dio con esta dirección." : "Vale para un certificado."]
      : [
          "Vale para estos destinatarios, y para ningún otro:",
          ...formatNameLines(data.entities, (count) => `y ${count} más, todos en la página del certificado`),
        ]),
    `El contacto basado en él debe terminar a más tardar el ${formatDate("es", data.cease_by)}, medianoche UTC (${toIso(data.cease_by)}).`,
    "Su recibo firmado. Guárdelo: prueba cuándo lo retiró, y cualquiera puede comprobarlo.",
    { link: data.receipt_url },
    `Si después de ese día aún le contactan, o si no quería esto, diríjase a: ${formatBusinessContact(data)}. Indique el número del certificado:`,
    data.cert_id,
  ],
  withdrawal_owner_notice: ({ cert_ids, cease_by }) => [
    "Se ha retirado un consentimiento",
    "La persona de su certificado ha retirado el consentimiento. El número de cada certificado:",
    ...cert_ids,
    `El contacto basado en él debe terminar a más tardar el ${formatDate("es", cease_by)}, medianoche UTC (${toIso(cease_by)}).`,
    "El certificado y su registro se conservan.",
  ],
  entities_owner_notice: ({ cert_id, entities, cease_by }) => [
    "Se ha retirado un consentimiento a destinatarios",
    "La persona de su certificado ha retirado el consentimiento a estos destinatarios, y a ningún otro:",
    ...formatNameLines(entities, (count) => `y ${count} más, todos en la página del certificado`),
    `Su contacto basado en él debe terminar a más tardar el ${formatDate("es", cease_by)}, medianoche UTC (${toIso(cease_by)}). El certificado sigue activo para los demás. Su número:`,
    cert_id,
  ],
  share_receipt: ({ business_name, groups, host, purpose, until, stop_url, app_url }) => [
    "Ha compartido sus datos",
    `Ha compartido con ${toPlainName(business_name)} estos datos, que pidió en ${toPlainName(host)}: ${formatFieldGroups("es", groups)}.`,
    `Para: ${toPlainName(purpose)}`,
    `Hasta: ${formatDate("es", until)}.`,
    "Para dejar de compartir cuando quiera, abra este enlace y pulse el botón. No hace falta entrar:",
    { link: stop_url },
    "Todo lo que comparte está aquí:",
    { link: app_url },
    "¿No ha sido usted? Deténgalo con el enlace.",
  ],
  share_expiring: ({ business_name, groups, until, is_tomorrow, renew_url, stop_url }) => [
    is_tomorrow ? "Mañana deja de compartir unos datos" : "En 7 días deja de compartir unos datos",
    `Lo que comparte con ${toPlainName(business_name)} (${formatFieldGroups("es", groups)}) termina el ${formatDate("es", until)}.`,
    "Si no hace nada, termina por sí solo: entonces ya no pueden usar lo que recibieron.",
    "Para seguir compartiendo:",
    { link: renew_url },
    "Para terminar hoy:",
    { link: stop_url },
  ],
  share_stopped: ({ share_id, business_name, groups, at, cease_by, contact, app_url }) => [
    "Ha dejado de compartir",
    `El ${formatMinute(at)} dejó de compartir con ${toPlainName(business_name)}: ${formatFieldGroups("es", groups)}.`,
    `Se lo estamos comunicando. Deben dejar de contactarle a más tardar al final del ${formatDate("es", cease_by)} (UTC).`,
    `Lo que ya tienen les toca a ellos borrarlo. Pídaselo${contact === null ? "." : `: ${formatContact(contact)}`}`,
    "Le escribiremos cuando lo confirmen, o cuando pase ese día sin respuesta.",
    `¿Le contactan después de ese día? Indique este número: ${share_id}. Su registro:`,
    { link: app_url },
  ],
  share_ceased: ({ share_id, business_name, at, note }) => [
    "Una empresa dice que el contacto ha terminado",
    `${toPlainName(business_name)} confirmó el ${formatMinute(at)} que el contacto basado en lo que dejó de compartir ha terminado.`,
    ...(note === null ? [] : [`Escribieron: ${toPlainName(note)}`]),
    "Su registro guarda lo compartido y esta confirmación, con sus pruebas.",
    `Si le contactan a pesar de todo, guarde el mensaje e indique ${share_id}.`,
  ],
  share_overdue: ({ share_id, business_name, cease_by, contact }) => [
    "Ha pasado un plazo",
    `${toPlainName(business_name)} tenía hasta el ${formatDate("es", cease_by)} para confirmar que el contacto ha terminado. No lo ha hecho.`,
    "Puede que haya terminado de todos modos.",
    `Si le siguen contactando, pueden ayudarle: ${contact === null ? "" : `${formatContact(contact)}; `}su autoridad de protección de datos.`,
    `Indique este número: ${share_id}`,
  ],
  share_owner_notice: ({ share_ids, cease_by }) => [
    "Alguien ha dejado de compartir",
    "Una persona ha dejado de compartir sus datos con ustedes. El número de cada caso:",
    ...share_ids,
    `El contacto basado en ellos debe terminar a más tardar el ${formatDate("es", cease_by)}, medianoche UTC (${toIso(cease_by)}).`,
    "Confírmenlo cuando haya terminado: POST /v1/shares/{id}/cease-ack.",
  ],
  agent_changed: ({ token_id, at, app_url }) => [
    "Su asistente ha cambiado algo",
    `El ${formatMinute(at)}, un asistente al que dio un token dejó de compartir algo suyo o cambió un dato de contacto.`,
    `El token es ${token_id}. Lo que hizo consta en su historial; de lo que haga en la próxima hora no le escribiremos otra vez.`,
    "¿No era lo que quería? Anule el token y consulte su historial:",
    { link: app_url },
  ],
  account_deleted: ({ at }) => [
    "Su cuenta se ha eliminado",
    `Usted eliminó su cuenta el ${formatMinute(at)}. Sus datos, sus sesiones y esta dirección ya no están en ella.`,
    "Todo lo que compartía se ha detenido. Se ha avisado a cada empresa, que debe dejar de contactarle dentro de su plazo.",
    "Queda constancia de que hubo esos permisos, sin usted, y quedan los certificados de los formularios que envió: pertenecen a esos formularios. Puede retirarse de cada uno en su página.",
    "Este es nuestro último correo sobre ello. ¿No ha sido usted? Entonces otra persona pudo leer su correo: cambie la contraseña.",
  ],
  removal_completed: ({ completed, asked, recheck_at, affidavit_url }) => [
    "Su solicitud de eliminación está completa",
    `${completed} de ${asked} sitios le han eliminado. La declaración firmada está aquí:`,
    { link: affidavit_url },
    "Nombra cada sitio y lo que resultó de preguntarle.",
    `Volveremos a mirar el ${formatDate("es", recheck_at)}.`,
  ],
  agent_connected: ({ client_name, client_host, redirect_host, at, end_url }) => [
    "Se ha conectado un asistente",
    `El ${formatMinute(at)} permitió que se conectara este programa:`,
    toPlainName(client_name),
    client_host === null
      ? `Se ha dado ese nombre él mismo y no hemos podido comprobarlo. Su acceso fue a ${redirect_host}.`
      : `${client_host} responde de él. Su acceso fue a ${redirect_host}.`,
    "Puede leer sus registros y, en el caso de una persona, corregir datos de contacto y dejar de compartir. No puede aceptar nada. ¿No fue usted o ya no lo quiere? Anúlelo aquí:",
    { link: end_url },
  ],
  agent_ending: ({ client_name, until, end_url }) => [
    "La conexión de su asistente está por terminar",
    `El ${formatDate("es", until)} termina por sí sola la conexión de este programa:`,
    toPlainName(client_name),
    "Cada conexión funciona durante 90 días. Si la quiere conservar, conecte entonces el programa de nuevo desde sus ajustes. Para terminarla ahora:",
    { link: end_url },
  ],
  webhook_failing: ({ webhook_id, failing_since, failures }) => [
    "Un webhook está fallando",
    "Uno de sus webhooks no acepta lo que le enviamos. El webhook es:",
    webhook_id,
    `Ha fallado ${failures} veces seguidas, desde ${formatMinute(failing_since)}. Sigue activado.`,
    "Todos los eventos están también en GET /v1/events: lea allí, en orden, lo que le falte.",
  ],
  client_limit_near: ({ client_id, until }) => [
    "Un formulario está cerca de su límite de hoy",
    "Los envíos sin clave de API están cerca del límite diario de su cliente:",
    client_id,
    `Más allá del límite se rechazan hasta ${formatMinute(until)}: los formularios siguen funcionando, pero lo enviado no recibe certificado.`,
    "Los envíos que hace su servidor con su clave de API no cuentan. Si son más de los que espera, puede que alguien envíe en su nombre; si no, pídanos un límite mayor.",
  ],
};
