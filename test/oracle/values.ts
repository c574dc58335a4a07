import type { GoalRule, SiteFacts } from "../../src/domain/query.ts"
import type { VisitTraits } from "../../src/domain/visit.ts"

/** Values that are easy to confuse: prefixes of each other, equal except for case, or with special characters. */
export const PAGES = [
  "/",
  "/a",
  "/a/",
  "/a/b",
  "/ab",
  "/A",
  "/100%_*",
  "/blog/ä",
  "/blog/Ä",
  "/straße",
  "/STRASSE",
  "/ΟΔΟΣ",
  "/οδος",
  "/İstanbul",
  "/i̇stanbul",
  "/👋",
  "/\uffee",
  "(other)",
  `/long${"/x".repeat(300)}`,
]
export const NAMES = ["Signup", "signup", "Sign", "Purchase", "404", "(other)", "Ärger", "S*p", "Outbound Link: Click"]
export const HOSTS = ["example.com", "shop.example.com", "example.co", "xn--bcher-kva.example", ""]
export const TITLES = ["Home", "home", "Home page", "Größe", "GRÖSSE", ""]
export const CURRENCIES = ["EUR", "USD", "JPY"]
export const PROPERTIES: Readonly<Record<string, readonly string[]>> = {
  plan: ["pro", "Pro", "pro+", "free", "(other)", "10%"],
  Plan: ["pro", "PRO"],
  author: ["Zoë", "ZOË", "o", "(other)"],
  price: ["9", "10", "9.50", "9.5", "-3", "0", "010", "1e3", "9007199254740993", "9007199254740992", "ten"],
  url: ["https://a.example/", "https://a.example/*", "https://b.example/"],
}
/** A property that no event has. */
export const UNKNOWN_PROPERTY = "never"

export const TRAIT_VALUES: Readonly<Record<keyof VisitTraits, readonly string[]>> = {
  source: ["", "Google", "google", "GoogleX", "(other)"],
  referrer: ["", "google.com", "google.com/search", "t.co/x"],
  channel: ["", "Direct", "Organic Search", "Email"],
  utm_source: ["", "news", "News", "newsletter"],
  utm_medium: ["", "email", "cpc"],
  utm_campaign: ["", "spring*", "spring%", "spring"],
  utm_term: ["", "shoes"],
  utm_content: ["", "a", "b"],
  click_id_type: ["", "gclid", "msclkid"],
  country: ["", "DE", "US", "AU", "NP"],
  region: ["", "DE-BE", "US-NY"],
  city: ["", "Berlin", "2950159", "İzmir", "izmir"],
  device: ["Desktop", "Mobile", "Tablet", ""],
  size: ["<576", "1440+", ""],
  browser: ["Chrome", "Firefox", ""],
  browser_version: ["", "141.0", "14.1"],
  os: ["", "Mac", "iOS"],
  os_version: ["", "10.15", "10.1"],
  language: ["", "de", "de-DE", "DE-de"],
}

const GOALS: readonly Omit<GoalRule, "id">[] = [
  { name: "Signed up", kind: "event", match: "exact", value: "Signup" },
  { name: "Sign*", kind: "event", match: "prefix", value: "Sign" },
  { name: "Any", kind: "event", match: "wildcard", value: "*" },
  { name: "any g", kind: "event", match: "contains", value: "g" },
  { name: "Star", kind: "event", match: "exact", value: "S*p" },
  { name: "Pro plan", kind: "event", match: "wildcard", value: "S*p", props: { plan: "pro" } },
  { name: "Both", kind: "event", match: "wildcard", value: "**", props: { plan: "pro", author: "o" } },
  { name: "Never", kind: "event", match: "exact", value: "Never", props: { never: "x" } },
  { name: "Page a", kind: "page", match: "exact", value: "/a" },
  { name: "page A", kind: "page", match: "prefix", value: "/a" },
  { name: "Blog", kind: "page", match: "wildcard", value: "/blog/*" },
  { name: "Pro page", kind: "page", match: "contains", value: "/", props: { plan: "pro" } },
  { name: "Read a", kind: "scroll", match: "exact", value: "/a", threshold: 50 },
  { name: "Read", kind: "scroll", match: "prefix", value: "/", threshold: 75 },
  { name: "Opened", kind: "scroll", match: "wildcard", value: "*a*", threshold: 1 },
  { name: "Ended", kind: "scroll", match: "contains", value: "b", threshold: 100 },
]

const goals = (chosen: readonly number[]): GoalRule[] => chosen.map((goal, i) => ({ id: i + 1, ...GOALS[goal]! }))

/** Sites of one store, each with its own rules. */
export const SITES: readonly SiteFacts[] = [
  { id: 1, bounceEngagedSeconds: 0, revenueCurrency: "EUR", goals: goals(GOALS.map((_, i) => i)) },
  { id: 2, bounceEngagedSeconds: 10, revenueCurrency: "USD", goals: goals([13, 0, 9, 12]) },
  { id: 3, bounceEngagedSeconds: 30, revenueCurrency: "GBP", goals: [] },
]
