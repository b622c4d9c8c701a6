// The text of the share button and its notes, in the languages of the consent sheet.

const en = {
  share: "Share my contact details",
  severed: "Continue in the window that opened, or continue here",
  newTab: "Open in a new tab",
  here: "Continue here",
  blocked: "Your browser blocked the window. Choose one:",
  busy: "One moment…",
  done: "Shared.",
  elsewhere: "Done. You can close this window.",
  closed: "Nothing was shared.",
  failed: "That didn’t work. Try again.",
};

type ShareMessages = typeof en;

const es: ShareMessages = {
  share: "Compartir mis datos de contacto",
  severed: "Continuar en la ventana que se abrió, o continuar aquí",
  newTab: "Abrir en otra pestaña",
  here: "Continuar aquí",
  blocked: "El navegador bloqueó la ventana. Elija una opción:",
  busy: "Un momento.",
  done: "Compartido.",
  elsewhere: "Listo. Puede cerrar esta ventana.",
  closed: "No se compartió nada.",
  failed: "No funcionó. Inténtelo de nuevo.",
};

const fr: ShareMessages = {
  share: "Partager mes coordonnées",
  severed: "Continuer dans la fenêtre ouverte, ou continuer ici",
  newTab: "Ouvrir dans un autre onglet",
  here: "Continuer ici",
  blocked: "La fenêtre a été bloquée. Choisissez une option\u00a0:",
  busy: "Un instant.",
  done: "Partagé.",
  elsewhere: "C’est fait. Vous pouvez fermer cette fenêtre.",
  closed: "Rien n’a été partagé.",
  failed: "L’opération a échoué. Réessayez.",
};

/** Returns the texts in the page's language at this element or, if the page sets none, in the browser's language. Falls back to English. */
export function getShareMessages(place: Element): ShareMessages & { lang: string } {
  const locale = place.closest("[lang]")?.getAttribute("lang") || navigator.language;
  const lang = locale.slice(0, 2).toLowerCase();
  return Object.assign({ lang: lang === "es" || lang === "fr" ? lang : "en" }, lang === "es" ? es : lang === "fr" ? fr : en);
}
