import type { ComponentType } from "preact"
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks"
import { Link, Redirect, useParams } from "wouter"
import type { HELP_TOPICS } from "../../../domain/dashboard-path.ts"
import { SearchField } from "../../parts/form/fields.tsx"
import type { AnyIcon } from "../../parts/icon.tsx"
import { Page } from "../../parts/page.tsx"
import { SECTION_ICONS } from "../../parts/section-icons.ts"
import { NoSuchPage, SectionsShell } from "../../shell/sections-shell.tsx"
import { counted } from "../../text/format.ts"
import { Api, Exporting, McpHelp } from "./export.tsx"
import { Filters, Keyboard, Visitors } from "./reports.tsx"
import { Begin, EventsAndGoals } from "./tracking.tsx"

const TOPICS: readonly { id: (typeof HELP_TOPICS)[number]; label: string; icon: AnyIcon; group: string; Content: ComponentType }[] = [
  { id: "begin", label: "Getting started", icon: SECTION_ICONS.flag, group: "Tracking", Content: Begin },
  { id: "events", label: "Events and goals", icon: "goals", group: "Tracking", Content: EventsAndGoals },
  { id: "visitors", label: "Visitors and visits", icon: "people", group: "Reports", Content: Visitors },
  { id: "filters", label: "Filters and URLs", icon: "filter", group: "Reports", Content: Filters },
  { id: "keyboard", label: "Keyboard shortcuts", icon: SECTION_ICONS.keyboard, group: "Reports", Content: Keyboard },
  { id: "exporting", label: "Exporting", icon: "download", group: "Export", Content: Exporting },
  { id: "api", label: "API and keys", icon: "key", group: "Export", Content: Api },
  { id: "mcp", label: "MCP", icon: "integrations", group: "Export", Content: McpHelp },
]
const GROUPS = ["Tracking", "Reports", "Export"]

/** Renders the built-in documentation. */
export default function Help() {
  const { topic } = useParams<{ topic?: string }>()
  const [sought, setSought] = useState("")
  useEffect(() => setSought(""), [topic])
  if (topic === undefined) return <Redirect to={`/help/${TOPICS[0]?.id}`} replace />
  const chosen = TOPICS.find(({ id }) => id === topic)
  if (!chosen) return <NoSuchPage />
  const groups = GROUPS.map((title) => ({
    title,
    entries: TOPICS.filter(({ group }) => group === title).map(({ id, label, icon }) => ({
      label,
      icon,
      href: `/help/${id}`,
      isCurrent: id === topic,
    })),
  }))
  return (
    <SectionsShell label="Help" groups={groups} bar={<strong class="site-name">Help</strong>}>
      <Page title={sought === "" ? chosen.label : "Search results"}>
        <div class="help-search" role="search">
          <SearchField label="Search help" value={sought} onValue={setSought} />
        </div>
        {sought === "" ? (
          <div class="prose stack">
            <chosen.Content />
          </div>
        ) : (
          <Found sought={sought} />
        )}
      </Page>
    </SectionsShell>
  )
}

/** The sections of all topics that contain every word of a search. */
function Found({ sought }: { sought: string }) {
  const topics = useRef<HTMLDivElement>(null)
  const [count, setCount] = useState(1)
  useLayoutEffect(() => {
    const words = sought.toLowerCase().split(/\s+/)
    let found = 0
    for (const topic of topics.current?.children ?? []) {
      const sections = [...topic.querySelectorAll<HTMLElement>("section")]
      for (const section of sections) section.hidden = !words.every((word) => section.textContent.toLowerCase().includes(word))
      const matches = sections.filter(({ hidden }) => !hidden).length
      topic.toggleAttribute("hidden", matches === 0)
      found += matches
    }
    setCount(found)
  }, [sought])
  return (
    <>
      <p class="small quiet" role="status">
        {count === 0 ? "No section contains these words. Try fewer or shorter ones." : counted(count, "section")}
      </p>
      <div class="prose stack" ref={topics}>
        {TOPICS.map(({ id, label, Content }) => (
          <div key={id} class="stack">
            <p class="small">
              <Link href={`/help/${id}`}>{label}</Link>
            </p>
            <Content />
          </div>
        ))}
      </div>
    </>
  )
}
