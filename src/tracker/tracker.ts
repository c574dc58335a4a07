/**
 * The script on visitors' pages. It records page views, engagement and events, and stores nothing by default.
 *
 * One source gives `/js/script.js`, the variant under Plausible's script names, Umami's `/script.js` and GoatCounter's `/count.js`: `bundle.ts` sets
 * `VARIANT`, and the bundler leaves out the branches of the others. Every byte is paid by every visitor (`size.ts`), so this file is terser than the rest of
 * the code: short keys in the payload (metrics.md 18.2), one handler for events that overlap, no checks for impossible cases.
 */
declare const VARIANT: "native" | "plausible" | "goatcounter" | "umami"
/** Name of the Plausible script without `.js`, inserted by the server: `script.hash.local`, `pa-<id>`. */
declare const NAME: string

type Props = Record<string, unknown>
interface Options {
  props?: Props | undefined
  revenue?: Props | undefined
  interactive?: boolean | undefined
  url?: string
  callback?: Done | undefined
  /** Web vitals, which `vitals.ts` sends. */
  f?: object | undefined
}
/** Result of sending. `status` is 0 if the browser took over the request and hides the response. */
interface Result {
  status?: number | undefined
  error?: unknown
}
type Done = (result: Result) => void
interface Outcome extends Result {
  headers?: Headers
}

interface Call {
  (name: string, options?: Options): void
  identify(id?: string): void
  consent(state: "granted" | "denied"): void
  /** Calls made before this script was loaded. */
  q?: [string, Options?][]
  /** Plausible's function to set options. Plausible's stub stores them in `o`. */
  init?(options?: PlausibleOptions): void
  o?: PlausibleOptions
}
interface PlausibleOptions {
  endpoint?: string
  hashBasedRouting?: boolean
  fileDownloads?: boolean | { fileExtensions: string[] }
  outboundLinks?: boolean
  formSubmissions?: boolean
  customProperties?: Props | ((name: string) => Props)
  captureOnLocalhost?: boolean
  autoCapturePageviews?: boolean
  logging?: boolean
  transformRequest?: (payload: object) => object | null
}

/** A value, or a function that returns one for the page's own value. If the function of a path returns null, nothing is counted. */
type Override = string | ((own: string) => string | null) | null
/** The options of a call of `goatcounter.count`. */
interface CountOptions {
  path?: Override
  title?: Override
  referrer?: Override
  event?: boolean
}
/** `window.goatcounter`: settings of the page, and the functions that the script adds. */
interface Goatcounter extends CountOptions {
  no_onload?: boolean
  no_events?: boolean
  allow_local?: boolean
  allow_frame?: boolean
  endpoint?: string
  count(given?: CountOptions): void
  url(given?: CountOptions): string | undefined
  filter(): string | false
  bind_events(): void
  get_query(name: string): string | undefined
}

/** An event in Umami's format, which pages can read and change. */
interface UmamiPayload {
  website?: string | undefined
  hostname?: string
  language?: string
  screen?: string
  title?: string
  url?: string
  referrer?: string
  tag?: string | undefined
  id?: string | undefined
  name?: string | undefined
  data?: Props | undefined
}
interface Umami {
  track(what?: string | UmamiPayload | ((own: UmamiPayload) => UmamiPayload), data?: Props): void
  identify(id: string | { id?: string }): void
  getSession(): { cache: undefined; website: string | undefined }
}

declare global {
  interface Window {
    umami?: Umami
    goatcounter?: Goatcounter
    footfall?: Call
    plausible?: Call
    _phantom?: unknown
    __nightmare?: unknown
    Cypress?: unknown
  }
  interface Document {
    prerendering?: boolean
  }
}

/** GoatCounter's settings, which the page may change at any time. */
const goat = (VARIANT === "goatcounter" && window.goatcounter) || ({} as Goatcounter)
/** Fields that replace the page's own in the next event. */
let overrides: object | undefined
/** Whether clicks on marked elements are recorded. */
let bound: boolean

// The tracker is loaded by a classic script element, so `currentScript` is set.
const script = document.currentScript as HTMLScriptElement
const data: DOMStringMap = VARIANT === "native" ? script.dataset : { ...script.dataset }
/** The options of Plausible's name; undefined while a script with an id waits for `plausible.init`. */
let plausible: PlausibleOptions | undefined
const early: [string, Options?][] = []

const tracks = (what: string) => (data.track ? data.track.includes(what) : data.site)
const page = () => location.pathname + ("hash" in data ? location.hash : "")
/** Returns whole milliseconds of the monotonic clock. */
const now = () => performance.now() | 0

let user: string | undefined
let device: string | undefined
let leaving: boolean
/** The page last counted, and the URL of the page view that engagement belongs to. */
let counted: string
let viewed: string
/** Engaged milliseconds not yet reported, and the time since which the page is in use; 0 while it is not. */
let engaged: number
let since: number
let height: number
/** Lowest pixel seen, and the scroll depth last reported; undefined before the first page view. */
let bottom: number
let reported: number | undefined

let ignored: unknown = navigator.webdriver || window._phantom || window.__nightmare || window.Cypress
try {
  // Each of these throws where it is forbidden.
  device = /footfall_id=(\w+)/.exec(document.cookie)?.[1]
  const flag = "footfall_ignore"
  if (location.hash === "#footfall-ignore") {
    localStorage[flag] = localStorage[flag] !== "true"
    // biome-ignore lint/style/useTemplate: one byte less after gzip
    alert(flag + ": " + localStorage[flag])
  }
  ignored ||= localStorage[flag] === "true"
  if (VARIANT === "plausible") ignored ||= localStorage.plausible_ignore === "true"
  if (VARIANT === "goatcounter") ignored ||= localStorage.skipgc === "t"
  if (VARIANT === "umami") ignored ||= localStorage["umami.disabled"]
} catch {}

/** Returns whether one of the comma-separated patterns matches the whole page. `*` is any run of characters. Umami has no such lists. */
const matches = (patterns = "") =>
  VARIANT === "umami"
    ? patterns === "*"
    : RegExp(
        `^(${patterns
          .replace(/[^\w\s*,]/g, "\\$&")
          .replace(/[\s,]+/g, "|")
          .replace(/\*+/g, ".*")})$`,
      ).test(page())

/** Sends an event. Its id makes retries count once; `randomUUID` is not used because it is missing on plain HTTP. */
const send = (fields: object, done?: Done, born = now(), id = `${Math.random()}`.slice(2) + Date.now(), tries = 0) => {
  const api = data.api || new URL("/api/event", VARIANT === "plausible" ? script.src : data.hostUrl || script.src)
  const body = JSON.stringify({
    d: VARIANT === "plausible" ? data.site : data.site || data.domain || data.websiteId,
    h: "hash" in data,
    x: user,
    y: device,
    id,
    o: now() - born,
    t: document.title,
    ...fields,
  })
  if (leaving || !window.fetch) {
    navigator.sendBeacon(api, body)
    done?.({ status: 0 })
  }
  // A text body needs no preflight.
  else
    fetch(api, { method: "POST", keepalive: true, body })
      .catch((error) => ({ error }))
      .then(({ status, headers, error }: Outcome) => {
        // Never before `Retry-After`, and not all visitors at once.
        if (tries < 3 && (error || status === 503 || status === 429))
          setTimeout(
            send,
            (+(headers?.get("retry-after") as string) || 4 ** tries) * (1000 + Math.random() * 250),
            fields,
            done,
            born,
            id,
            tries + 1,
          )
        else done?.({ status, error })
      })
}

const props = (element: Element) => {
  const found: Props = {}
  for (const { name, value } of element.attributes) {
    const key = name.split(/^(data-(footfall-)?prop|event)-/)[3]
    if (key) found[key] = value
  }
  return found
}

/** `footfall(name, options)`. */
const track = ((name, { url = location.href, props: own, revenue, interactive, callback, f } = {}) => {
  if (VARIANT === "plausible" && !plausible) {
    early.push([name, { url, props: own, revenue, interactive, callback }])
    return
  }
  const view = name === "pageview"
  if (view) {
    report()
    viewed = ""
  }
  if (
    ignored ||
    // GoatCounter has its own rule.
    (VARIANT !== "goatcounter" && !("local" in data) && /^(localhost|127\..*|\[::1]|)$/.test(location.hostname)) ||
    !matches(data.include || "*") ||
    matches(data.exclude)
  ) {
    if (VARIANT === "plausible" && plausible?.logging !== false) console.warn("ignored", name)
    callback?.({ error: "ignored" })
  } else {
    const common = VARIANT === "plausible" ? plausible?.customProperties : undefined
    let fields: object | null = {
      n: name,
      u: url,
      r: document.referrer,
      p:
        VARIANT === "plausible"
          ? { ...(typeof common === "function" ? common(name) : common), ...(view && props(script)), ...own }
          : { ...(view && props(script)), ...own },
      f,
      $: revenue,
      i: interactive,
      tz: Intl.DateTimeFormat().resolvedOptions().timeZone,
      w: innerWidth,
    }
    if (VARIANT === "goatcounter" || VARIANT === "umami") Object.assign(fields, overrides)
    if (VARIANT === "plausible" && plausible?.transformRequest) {
      fields = plausible.transformRequest({ d: data.site, ...fields })
      if (!fields) return callback?.({ error: "ignored" })
    }
    // Single-page applications set the title after the URL.
    if (view && reported != null) setTimeout(send, 100, fields, callback, now())
    else send(fields, callback)
    if (view) {
      viewed = url
      engaged = bottom = 0
      reported = -1
    }
  }
}) as Call

/** Sends engagement when a page view ends or is interrupted: the first time, after further scrolling, or after three more seconds. */
const report = () => {
  attend()
  if (!bottom) measure(0)
  const sd = (Math.min(1, bottom / height) * 100 + 0.5) | 0
  // `reported` is set, because a page view was counted.
  if (viewed && (sd > (reported as number) || engaged >= 3000)) {
    send({ n: "engagement", u: viewed, e: engaged, sd })
    engaged = 0
    reported = sd
  }
}

const attend = () => {
  if (since) engaged += now() - since
  since = !document.hidden && document.hasFocus() ? now() : 0
}

const measure = (times: number) => {
  height = document.documentElement.scrollHeight
  bottom = Math.max(bottom, scrollY + innerHeight)
  if (times) setTimeout(measure, 200, times - 1)
}

/** Records a page view unless it is the page recorded last. */
const navigated = () => {
  setTimeout(measure, 200, 14)
  if (VARIANT === "plausible" && !plausible) return
  // A prerendered page is recorded once it is visible.
  if (VARIANT === "goatcounter" && document.hidden) return
  if (!("manual" in data) && !document.prerendering && counted !== page()) {
    counted = page()
    if (VARIANT === "goatcounter") {
      goat.count()
      // GoatCounter's script counts one page view automatically. Single-page applications count further ones themselves.
      data.manual = ""
    } else if (VARIANT === "umami") window.umami!.track()
    else track("pageview")
  }
}

const onPageStateChange = ({ type, persisted }: Partial<PageTransitionEvent>) => {
  leaving = type === "pagehide"
  attend()
  // Among these events, only `blur` and `visibilitychange` contain a "b".
  if (leaving || (!since && /b/.test(type as string))) report()
  // The page was restored from the back-forward cache.
  if (persisted && !leaving) counted = ""
  navigated()
}

/** Records the event that an element or an ancestor declares in its attributes. */
const trackDeclared = (element: Element | null, form: boolean, steps = 4) => {
  if (!element || !steps) return
  const name = element.getAttribute("data-footfall-event")
  if (name && (element.tagName === "FORM") === form) track(name, { props: props(element) })
  else trackDeclared(element.parentElement, form, steps - 1)
}

/** The target of a submit is a form. For clicks, only properties that all elements have are used. */
const onAction = ({ type, target: element, button }: { type: string; target: HTMLFormElement; button: number }) => {
  const form = type === "submit"
  if (button > 1 || (form && !element.noValidate && !element.checkValidity())) return
  trackDeclared(element, form)
  const link = element.closest("a")
  if (VARIANT === "plausible" && trackTagged(element, form, link)) return
  if (VARIANT === "umami") {
    const marked = element.closest(`[${UMAMI_EVENT}]`)
    if (bound && !form && marked) trackUmamiElement(marked)
    return
  }
  if (VARIANT === "goatcounter") {
    // This script records no files, forms and outbound links, so that it stays within its size limit.
    if (!form && bound) countGoatElement(element.closest("[data-goatcounter-click]"))
    return
  }
  if (form) {
    if (tracks("forms")) track("Form: Submission", { props: { path: page() } })
  } else if (link)
    if (
      tracks("files") &&
      // The order of the extensions is the one that compresses best.
      RegExp(
        `\\.(${[
          data.fileTypes ||
            "key,gz,pps,avi,dmg,wav,mp3,tgz,ppt,csv,mp4,7z,pkg,wmv,mpeg,wma,mov,midi,zip,ics,epub,exe,tar,pptx,rtf,xlsx,json,rar,pdf,xml,docx,txt",
          data.addFileTypes,
        ]
          .join()
          .replace(/\W+/g, "|")})$`,
        "i",
      ).test(link.pathname)
    )
      track("File Download", { props: { url: link.origin + link.pathname } })
    else if (tracks("outbound") && /^http/.test(link.href) && link.host !== location.host)
      track("Outbound Link: Click", { props: { url: link.origin + link.pathname + link.search + link.hash } })
}

/** Records the event in Plausible's classes of an element or an ancestor. Returns whether there was one, which replaces automatic events. */
const trackTagged = (element: Element | null, form: boolean, link: HTMLAnchorElement | null, steps = 4): boolean => {
  if (!element || !steps) return false
  const found: Record<string, Props> = { event: {}, revenue: {} }
  for (const word of element.classList) {
    const [, kind, key, value] = word.replace(/\+/g, " ").match(/^plausible-(event|revenue)-(.+)(?:=|--)(.+)/) || []
    if (kind) found[kind]![key!] = value
  }
  const { name, ...own } = found.event!
  if (!name || (element.tagName === "FORM") !== form) return trackTagged(element.parentElement, form, link, steps - 1)
  track(`${name}`, { props: { ...own, url: link?.href }, revenue: found.revenue!.amount ? found.revenue : undefined })
  return true
}

const UMAMI_EVENT = "data-umami-event"
/** Records a click on an element that is marked for Umami. */
const trackUmamiElement = (element: Element) => {
  const found: Props = {}
  for (const { name, value } of element.attributes) {
    const key = name.split(`${UMAMI_EVENT}-`)[1]
    if (key) found[key] = value
  }
  window.umami!.track(element.getAttribute(UMAMI_EVENT)!, found)
}

/** Counts a click on an element that is marked for GoatCounter. */
const countGoatElement = (element: HTMLButtonElement | null) => {
  if (!element) return
  const { goatcounterClick, goatcounterTitle, goatcounterReferrer, goatcounterReferral } = element.dataset
  goat.count({
    event: true,
    path: goatcounterClick || element.name || element.id,
    title: goatcounterTitle || element.title || element.innerHTML.slice(0, 200),
    referrer: goatcounterReferrer || goatcounterReferral || "",
  })
}

track.identify = (id) => {
  user = id
}
track.consent = (state) => {
  // Only the native script has this function, because the other ones need its bytes.
  if (VARIANT !== "native") return
  const granted = state === "granted" && "consent" in data
  // The id's lifetime starts with the first consent; repeated consent does not extend it.
  if (granted && device) return
  device = granted ? crypto.randomUUID().replace(/-/g, "") : ""
  // biome-ignore lint/suspicious/noDocumentCookie: not all browsers have the Cookie Store API.
  document.cookie = `footfall_id=${device};path=/;max-age=${+(granted && (data.consent || 180)) * 86400}`
}

for (const method of ["pushState", "replaceState"] as const) {
  const original = history[method]
  history[method] = (...state) => {
    original.apply(history, state)
    navigated()
  }
}
for (const type of ["popstate", "load", "pagehide", "blur", "focus", "pageshow", "visibilitychange"])
  addEventListener(type, onPageStateChange)
for (const type of ["click", "auxclick", "submit"] as const) addEventListener(type, onAction as never, true)
addEventListener("scroll", () => measure(0))
if (VARIANT === "plausible") {
  const id = NAME.split("pa-")[1]
  const nameHas = (extension: string) => NAME.split(".").includes(extension)
  /** Converts options, or by default the extensions in the script's name, to the corresponding attributes. */
  const init = (options: PlausibleOptions = {}) => {
    const files = options.fileDownloads ?? nameHas("file-downloads")
    plausible ||= options
    data.site ||= data.domain || id
    data.api ||= options.endpoint
    if (options.hashBasedRouting ?? nameHas("hash")) data.hash = ""
    if (options.captureOnLocalhost ?? nameHas("local")) data.local = ""
    if (!(options.autoCapturePageviews ?? !nameHas("manual"))) data.manual = ""
    if (files instanceof Object) data.fileTypes = `${files.fileExtensions}`
    data.track ||= `${[(options.outboundLinks ?? nameHas("outbound-links")) && "outbound", files && "files", options.formSubmissions && "forms"]}`
    navigated()
    for (const call of early.splice(0)) track(...call)
  }
  const options = window.plausible?.o
  if (options || !id) init(options)
  track.init = init
}
if (VARIANT === "goatcounter") {
  window.goatcounter = goat
  try {
    Object.assign(goat, JSON.parse(data.goatcounterSettings || "{}"))
  } catch {}
  /** Returns the values to count: those of the call, else those that the page has set, else the page's own. */
  const valuesOf = (given: CountOptions = {}) => {
    const value = (key: "path" | "title" | "referrer", own: string) => {
      const override = given[key] === undefined ? goat[key] : given[key]
      return typeof override === "function" ? override(own) : (override ?? own)
    }
    const bare = (host: string) => host.replace(/^www\./, "")
    const link = document.querySelector<HTMLLinkElement>("link[rel=canonical][href]")
    const canonical = new URL(link?.href || location.href)
    const { pathname, search } = bare(canonical.hostname) === bare(location.hostname) ? canonical : location
    return {
      p: value("path", pathname + search),
      t: value("title", document.title),
      r: value("referrer", document.referrer),
      e: given.event || goat.event,
    }
  }
  const endpoint = () => new URL(data.goatcounter || goat.endpoint || "/count", script.src)
  goat.filter = () => {
    if (document.hidden) return "visibilityState"
    if (!goat.allow_frame && window !== parent) return "frame"
    if (!goat.allow_local && /localhost$|^(127|10|172\.(1[6-9]|2\d|3[01])|192\.168)\.|^0\.0\.0\.0$/.test(location.hostname)) return "local"
    return !!ignored && "disabled"
  }
  goat.count = (given) => {
    const { p, t, r, e } = valuesOf(given)
    const reason = p === null ? "path" : goat.filter()
    if (reason) return console.warn(`goatcounter: not counting because of: ${reason}`)
    overrides = { t, r }
    if (e) track(p!)
    // The campaign is in the page's URL, even if the page gives another path.
    else track("pageview", { url: `${location.origin}/${p!.replace(/^\//, "")}${p!.includes("?") ? "" : location.search}` })
    overrides = undefined
  }
  goat.url = (given) => {
    const address = endpoint()
    const { width, height } = screen
    const rest = { s: [width, height, devicePixelRatio], b: navigator.webdriver ? 153 : 0, q: location.search, rnd: Math.random() }
    const fields = Object.entries({ ...valuesOf(given), ...rest })
    for (const [name, value] of fields) if (value || value === 0) address.searchParams.set(name, `${value}`)
    return address.searchParams.has("p") ? address.href : undefined
  }
  goat.bind_events = () => {
    bound = true
  }
  goat.get_query = (name) => new URLSearchParams(location.search).get(name) ?? undefined
  bound = !goat.no_events
  data.site ||= endpoint().searchParams.get("site") ?? ""
  data.hostUrl ||= endpoint().href
  if (goat.no_onload) data.manual = ""
}
if (VARIANT === "umami") {
  const own = (): UmamiPayload => {
    const address = new URL(location.href)
    if (data.excludeSearch === "true") address.search = ""
    if (data.excludeHash === "true") address.hash = ""
    return {
      website: data.websiteId,
      hostname: location.hostname,
      language: navigator.language,
      screen: `${screen.width}x${screen.height}`,
      title: document.title,
      url: address.href,
      referrer: document.referrer,
      tag: data.tag,
      id: user,
    }
  }
  const flat = (values: object, above = ""): [key: string, value: unknown][] =>
    Object.entries(values).flatMap(([key, value]) =>
      value instanceof Object && !Array.isArray(value) ? flat(value, `${above}${key}.`) : [[above + key, value] as [string, unknown]],
    )
  const post = (payload?: UmamiPayload) => {
    if (!payload) return
    const { website, language, title, url, referrer, tag, id, name, data: given = {} } = payload
    const { revenue, currency } = given
    overrides = { d: website, l: language, t: title, r: referrer, x: id }
    track(name || "pageview", {
      url: new URL(url ?? "", location.href).href,
      props: Object.fromEntries(flat({ ...given, tag })),
      revenue: revenue && currency ? { amount: revenue, currency } : undefined,
    })
    overrides = undefined
  }
  window.umami = {
    track(what, given) {
      const payload = typeof what === "function" ? what(own()) : what instanceof Object ? what : { ...own(), name: what, data: given }
      // `data-before-send` is the name of a global function of the page.
      const edit = (window as unknown as Record<string, unknown>)[data.beforeSend as string]
      if (typeof edit === "function") Promise.resolve(edit("event", payload)).then(post)
      else post(payload)
    },
    identify(id) {
      user = typeof id === "string" ? id : (id.id ?? user)
    },
    getSession: () => ({ cache: undefined, website: data.websiteId }),
  }
  bound = data.autoTrack !== "false"
  ignored ||=
    (data.domains && !data.domains.split(/[\s,]+/).includes(location.hostname)) ||
    (data.doNotTrack === "true" && navigator.doNotTrack === "1")
  data.include = data.exclude = ""
  if (!bound) data.manual = ""
  if (data.excludeHash !== "true") data.hash = ""
}
// A script of another origin has no base URL, so the path is resolved here. `import` converts the URL to text.
if (VARIANT === "native" && "vitals" in data) import(new URL("vitals.js", script.src) as unknown as string)
navigated()
for (const name of ["footfall", "plausible"] as const) {
  const stub = window[name]
  window[name] = track
  stub?.q?.map((call) => track(...call))
}
