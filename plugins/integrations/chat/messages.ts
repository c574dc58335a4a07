import { isObject, type PublishedEvent } from "#plugin"
import { factsOf } from "../reports/chat.ts"
import type { ReportContent } from "../reports/content.ts"
import { REPORT_READY } from "../reports/events.ts"
import { type ChatMessage, plain } from "../text.ts"

export const TEST_MESSAGE: ChatMessage = {
  title: "Footfall is connected",
  facts: [{ label: "Test", value: "Messages about your sites will appear here." }],
}

interface MessageContext {
  siteName: string | undefined
  /** Title of the event. */
  title: string | undefined
  baseUrl: string
}

type Payload = Readonly<Record<string, unknown>>
type Template = (payload: Payload) => readonly { label: string; value: unknown }[]

const IMPORT: Template = ({ label, source, date_start, date_end, error }) => [
  { label: "Import", value: label },
  { label: "Source", value: source },
  { label: "Days", value: date_start && date_end ? `${date_start} – ${date_end}` : undefined },
  { label: "Error", value: error },
]

const TRAFFIC: Template = ({ summary }) => [{ label: "What happened", value: summary }]

/** The figures and texts that the message of an event shows. Any other event shows the fields of its payload. */
const TEMPLATES: Readonly<Record<string, Template>> = {
  "goal.completed": ({ name, conversions }) => [
    { label: "Goal", value: name },
    { label: "Conversions", value: conversions },
  ],
  "import.completed": IMPORT,
  "import.failed": IMPORT,
  "import.undone": IMPORT,
  [REPORT_READY]: (payload) => factsOf(payload as unknown as ReportContent), // its payload is its content
  "traffic.spike": TRAFFIC,
  "traffic.drop": TRAFFIC,
  "traffic.stopped": TRAFFIC,
  "traffic.goal": TRAFFIC,
  "traffic.not_found": TRAFFIC,
  "traffic.resolved": TRAFFIC,
  "backup.failed": ({ step, cause }) => [
    { label: "Step", value: step },
    { label: "Cause", value: cause },
  ],
}

const MAX_FACTS = 20

/** Ids, urls and lists are of no use in a chat. */
const FIELDS: Template = (payload) =>
  Object.entries(payload)
    .filter(([name, value]) => !/(^|_)(id|url)$/.test(name) && (typeof value === "string" || typeof value === "number"))
    .map(([name, value]) => ({ label: labelOf(name), value }))

const labelOf = (name: string): string => name[0]!.toUpperCase() + name.slice(1).replaceAll("_", " ") // no field has an empty name

/** Returns the message about an event. Texts of visitors are cleaned and cut. */
export function messageOf({ event, site_id, payload }: PublishedEvent, { siteName, title = event, baseUrl }: MessageContext): ChatMessage {
  const facts = (TEMPLATES[event] ?? FIELDS)(isObject(payload) ? payload : {})
    .filter(({ value }) => value !== undefined && value !== null && value !== "")
    .slice(0, MAX_FACTS)
    .map(({ label, value }) => ({ label: plain(label), value: Array.isArray(value) ? value.map(plain).join("\n") : plain(value) }))
  return {
    // A report has a title of its own, with the name of the site.
    title: plain(event === REPORT_READY && isObject(payload) ? payload.title : siteName === undefined ? title : `${title}: ${siteName}`),
    facts,
    link: site_id === null ? baseUrl : `${baseUrl}/sites/${site_id}`,
  }
}
