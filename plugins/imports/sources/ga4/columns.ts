import type { ImportedKind } from "#plugin"

/**
 * The columns of reports of Google Analytics. Headers are in the language of the account: dates are recognized by their values too, the
 * others by the names listed here.
 */

export type Dimension =
  | "date"
  | "date_hour"
  | "nth_day"
  | "day_index"
  | "page"
  | "landing_page"
  | "hostname"
  | "source"
  | "medium"
  | "source_medium"
  | "campaign"
  | "content"
  | "term"
  | "channel"
  | "country"
  | "region"
  | "city"
  | "device"
  | "browser"
  | "browser_version"
  | "os"
  | "os_version"
  | "language"
  | "event"
  /** Another period, or a dimension that totals do not have. */
  | "other"

export type Metric =
  | "active_users"
  | "total_users"
  | "views"
  | "sessions"
  | "engaged_sessions"
  | "engagement_rate"
  | "bounce_rate"
  | "session_duration"
  | "engagement_per_session"
  | "engagement_per_user"
  | "engagement"
  | "events"
  | "ignored"

export type Column = { dimension: Dimension } | { metric: Metric }

/** Returns the column of a header, or undefined for an unknown one. */
export const columnOf = (name: string): Column | undefined => COLUMNS.get(keyOf(name))

const keyOf = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[\u2018\u2019]/g, "'")
    .replace(/\s+/g, " ")
    .trim()

/** English names, then German, French, Spanish, Italian, Portuguese and Dutch. */
const DIMENSION_NAMES: Readonly<Record<Dimension, readonly string[]>> = {
  date: ["date", "day", "datum", "tag", "jour", "fecha", "día", "data", "giorno", "dia"],
  date_hour: ["date + hour (yyyymmddhh)", "date hour", "date + hour", "hour of day"],
  nth_day: [
    "nth day",
    "n-ter tag",
    "n. tag",
    "énième jour",
    "nième jour",
    "enésimo día",
    "día n",
    "ennesimo giorno",
    "enésimo dia",
    "n-de dag",
  ],
  day_index: ["day index", "tagesindex", "index des jours", "índice de días", "indice giorni", "índice de dia", "dagindex"],
  page: [
    ...["page path and screen class", "page path", "page path + query string", "page path and screen name", "page location", "page"],
    ...["full page url", "seitenpfad und bildschirmklasse", "seitenpfad", "chemin de la page et classe de l'écran", "chemin de la page"],
    ...["ruta de página y clase de pantalla", "ruta de la página y clase de pantalla", "ruta de la página"],
    ...["percorso pagina e classe schermata", "percorso pagina", "caminho da página e classe da tela", "caminho da página"],
    ...["paginapad en schermklasse", "paginapad"],
  ],
  landing_page: [
    ...["landing page", "landing page + query string", "landingpage", "page de destination", "página de destino", "pagina di destinazione"],
    ...["bestemmingspagina"],
  ],
  hostname: ["hostname", "host name", "nom d'hôte", "nombre de host", "nome host", "nome do host", "hostnaam"],
  source: ["session source", "source", "first user source", "sitzungsquelle", "source de la session", "fuente de la sesión"],
  medium: ["session medium", "medium", "first user medium", "sitzungsmedium", "support de la session", "medio de la sesión"],
  source_medium: [
    ...["session source / medium", "source / medium", "first user source / medium", "sitzung – quelle/medium"],
    ...["source/support de la session", "fuente/medio de la sesión"],
  ],
  campaign: ["session campaign", "campaign", "first user campaign", "kampagne", "campagne", "campaña", "campagna", "campanha"],
  content: ["session manual ad content", "manual ad content", "ad content"],
  term: ["session manual term", "manual term", "session google ads keyword text", "keyword"],
  channel: [
    ...["session primary channel group (default channel group)", "session default channel group", "default channel group"],
    ...["session default channel grouping", "default channel grouping", "first user default channel group"],
    ...["first user primary channel group (default channel group)"],
  ],
  country: ["country", "country id", "land", "pays", "país", "paese"],
  region: ["region", "région", "región", "regione", "região", "regio"],
  city: ["city", "town/city", "ort", "stadt", "ville", "ciudad", "città", "cidade", "stad", "plaats"],
  device: [
    ...["device category", "gerätekategorie", "catégorie d'appareil", "categoría de dispositivo", "categoria dispositivo"],
    ...["categoria do dispositivo", "apparaatcategorie"],
  ],
  browser: ["browser", "navigateur", "navegador"],
  browser_version: ["browser version"],
  os: [
    ...["operating system", "betriebssystem", "système d'exploitation", "sistema operativo", "sistema operacional", "besturingssysteem"],
  ],
  os_version: ["operating system version", "os version", "os with version"],
  language: ["language", "language code", "sprache", "langue", "idioma", "lingua", "taal"],
  event: ["event name", "ereignisname", "nom de l'événement", "nombre del evento", "nome evento", "nome do evento", "gebeurtenisnaam"],
  other: [
    ...["nth week", "nth month", "nth hour", "nth minute", "nth year", "week", "month", "year", "hour", "week index", "month index"],
    ...["page title", "page title and screen name", "page title and screen class", "content group", "user medium", "platform", "item name"],
    ...[
      "seitentitel",
      "titre de la page",
      "título de página",
      "new / established",
      "audience name",
      "gender",
      "age",
      "interests",
      "exit page",
    ],
  ],
}

const METRIC_NAMES: Readonly<Record<Metric, readonly string[]>> = {
  active_users: [
    ...["active users", "aktive nutzer", "utilisateurs actifs", "usuarios activos", "utenti attivi", "usuários ativos"],
    ...["utilizadores ativos", "actieve gebruikers"],
  ],
  total_users: [
    ...["total users", "users", "nutzer insgesamt", "gesamtzahl der nutzer", "nutzer", "nombre total d'utilisateurs", "utilisateurs"],
    ...[
      "total de usuarios",
      "usuarios",
      "usuários",
      "utenti totali",
      "utenti",
      "total de usuários",
      "totaal aantal gebruikers",
      "gebruikers",
    ],
  ],
  views: [
    ...["views", "pageviews", "screen views", "aufrufe", "seitenaufrufe", "vues", "pages vues", "vistas", "visitas a páginas"],
    ...["visualizzazioni", "visualizzazioni di pagina", "visualizações", "visualizações de página", "weergaven", "paginaweergaven"],
  ],
  sessions: ["sessions", "sitzungen", "sesiones", "sessioni", "sessões", "sessies"],
  engaged_sessions: [
    ...["engaged sessions", "sitzungen mit interaktionen", "sessions avec engagement", "sesiones con interacción"],
    ...["sessioni con coinvolgimento", "sessões engajadas", "betrokken sessies"],
  ],
  engagement_rate: [
    ...["engagement rate", "engagement-rate", "taux d'engagement", "porcentaje de interacciones", "tasso di coinvolgimento"],
    ...["taxa de engajamento", "betrokkenheidspercentage"],
  ],
  bounce_rate: [
    ...["bounce rate", "absprungrate", "taux de rebond", "porcentaje de rebote", "frequenza di rimbalzo", "taxa de rejeição"],
    ...["bouncepercentage"],
  ],
  session_duration: [
    ...["average session duration", "avg. session duration", "durchschnittliche sitzungsdauer", "durée moyenne de la session"],
    ...["durée moyenne des sessions", "duración media de la sesión", "durata media sessione", "duração média da sessão"],
  ],
  engagement_per_session: ["average engagement time per session", "durchschnittliche interaktionsdauer pro sitzung"],
  engagement_per_user: [
    ...["average engagement time per active user", "average engagement time", "durchschnittliche interaktionsdauer pro aktivem nutzer"],
    ...["durée d'engagement moyenne par utilisateur actif", "tiempo de interacción medio por usuario activo"],
  ],
  engagement: ["user engagement", "nutzerinteraktion", "user engagement duration"],
  events: [
    ...["event count", "ereignisanzahl", "nombre d'événements", "número de eventos", "conteggio eventi", "contagem de eventos"],
    ...["aantal gebeurtenissen"],
  ],
  ignored: [
    ...["new users", "returning users", "views per active user", "views per user", "views per session", "key events", "conversions"],
    ...["total revenue", "engaged sessions per active user", "events per session", "event count per active user", "event value"],
    ...["session key event rate", "user key event rate", "unique pageviews", "avg. time on page", "entrances", "% exit", "page value"],
    ...["% new sessions", "pages / session", "bounces", "unique page views", "avg. page load time (sec)", "goal value"],
    ...["schlüsselereignisse", "gesamtumsatz", "événements clés", "revenu total", "eventos clave", "ingresos totales"],
  ],
}

const COLUMNS: ReadonlyMap<string, Column> = new Map<string, Column>([
  ...Object.entries(METRIC_NAMES).flatMap(([metric, names]) => names.map((name) => [name, { metric: metric as Metric }] as const)),
  ...Object.entries(DIMENSION_NAMES).flatMap(([dimension, names]) =>
    names.map((name) => [name, { dimension: dimension as Dimension }] as const),
  ),
])

/** The tables of totals with the dimensions that each can take. */
const KINDS: readonly (readonly [ImportedKind, readonly Dimension[]])[] = [
  ["imported_visitors", []],
  ["imported_pages", ["page", "hostname"]],
  ["imported_entry_pages", ["landing_page"]],
  ["imported_sources", ["source", "medium", "source_medium", "campaign", "content", "term", "channel"]],
  ["imported_locations", ["country", "region", "city"]],
  ["imported_devices", ["device"]],
  ["imported_browsers", ["browser", "browser_version"]],
  ["imported_operating_systems", ["os", "os_version"]],
  ["imported_languages", ["language"]],
  ["imported_custom_events", ["event"]],
]

/** Returns the table that has all of the dimensions, or undefined if they belong to several. */
export const kindOf = (dimensions: readonly Dimension[]): ImportedKind | undefined =>
  KINDS.find(([, known]) => dimensions.every((dimension) => known.includes(dimension)))?.[0]

/** Dimensions that name a day. */
export const DAYS: ReadonlySet<Dimension> = new Set(["date", "date_hour", "nth_day", "day_index"])
