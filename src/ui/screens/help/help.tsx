import type { ComponentType } from "preact"
import { Redirect, useParams } from "wouter"
import type { IconName } from "../../parts/icon.tsx"
import { Page } from "../../parts/page.tsx"
import { SectionsShell } from "../../shell/sections-shell.tsx"
import { NotFound } from "../../shell/system-pages.tsx"
import { Api } from "./api.tsx"
import { Begin } from "./begin.tsx"
import { EventsAndGoals } from "./events-and-goals.tsx"
import { Exporting } from "./exporting.tsx"
import { Filters } from "./filters.tsx"
import { Keyboard } from "./keyboard.tsx"
import { McpHelp } from "./mcp.tsx"
import { Visitors } from "./visitors.tsx"

const TOPICS: readonly { id: string; label: string; icon: IconName; group: string; Content: ComponentType }[] = [
  { id: "begin", label: "Begin", icon: "check", group: "Count", Content: Begin },
  { id: "events", label: "Events and goals", icon: "goals", group: "Count", Content: EventsAndGoals },
  { id: "visitors", label: "What is a visitor", icon: "people", group: "Read", Content: Visitors },
  { id: "filters", label: "Filters and the address", icon: "filter", group: "Read", Content: Filters },
  { id: "keyboard", label: "Keyboard", icon: "pencil", group: "Read", Content: Keyboard },
  { id: "exporting", label: "Exporting", icon: "download", group: "Take along", Content: Exporting },
  { id: "api", label: "API and keys", icon: "key", group: "Take along", Content: Api },
  { id: "mcp", label: "MCP", icon: "integrations", group: "Take along", Content: McpHelp },
]
const GROUPS = ["Count", "Read", "Take along"]

/** Short documentation, inside the program: what is needed to begin, and what the figures mean. */
export default function Help() {
  const { topic } = useParams<{ topic?: string }>()
  if (topic === undefined) return <Redirect to={`/help/${TOPICS[0]?.id}`} replace />
  const chosen = TOPICS.find(({ id }) => id === topic)
  if (!chosen) return <NotFound />
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
      <Page title={chosen.label}>
        <div class="prose stack">
          <chosen.Content />
        </div>
      </Page>
    </SectionsShell>
  )
}
