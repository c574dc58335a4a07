import { lazy, Suspense } from "preact/compat"
import { useState } from "preact/hooks"
import {
  ActionMenu,
  type Column,
  countColumn,
  type Filters,
  ItemName,
  type ListFilter,
  ListPage,
  TimeAgo,
  TruncatedText,
  useSiteId,
  visible,
  webAddress,
} from "#plugin/ui"
import type { ListedLinkResponse } from "../responses.ts"
import { badgesOf, LINKS, useDomains, useRights } from "./answers.ts"
import { BulkBar } from "./bulk-bar.tsx"

const Editor = lazy(() => import("./editor.tsx"))
const PANELS = {
  domains: { label: "Link domains", Panel: lazy(() => import("./domains.tsx")) },
  templates: { label: "Campaign templates", Panel: lazy(() => import("./templates.tsx")) },
  orphans: { label: "Requests without a link", Panel: lazy(() => import("./orphans.tsx")) },
  import: { label: "Import links", Panel: lazy(() => import("./import.tsx")) },
} as const
type PanelName = keyof typeof PANELS

/** List of the site's short links with their clicks by people and bots. */
export default function Links() {
  const siteId = useSiteId()
  const { writes } = useRights(siteId)
  const domains = useDomains(siteId).data?.data ?? []
  const [panel, setPanel] = useState<PanelName>()
  const [selected, setSelected] = useState<ReadonlySet<number>>(new Set())
  const names = (Object.keys(PANELS) as PanelName[]).filter((name) => writes || name !== "import") // its own keys
  const Panel = panel && PANELS[panel].Panel
  return (
    <ListPage<ListedLinkResponse>
      of={LINKS}
      caption="Short links"
      filters={filtersWith(domains)}
      columns={(_, setFilters) => columnsOf({ siteId, setFilters, ...(writes && { selected, onSelect: setSelected }) })}
      copied={({ short_url }) => ({ text: short_url, label: `Copy ${visible(short_url)}` })}
      empty="No short links yet. A short link redirects to a page and counts the clicks."
      Editor={Editor}
      actions={
        <ActionMenu label="More about links" actions={names.map((name) => ({ label: PANELS[name].label, run: () => setPanel(name) }))} />
      }
    >
      {writes && <BulkBar siteId={siteId} selected={selected} onDone={() => setSelected(new Set())} />}
      {Panel && (
        <Suspense fallback={<div class="progress-line" />}>
          <Panel siteId={siteId} onClose={() => setPanel(undefined)} />
        </Suspense>
      )}
    </ListPage>
  )
}

const filtersWith = (domains: readonly { id: number; host: string }[]): ListFilter[] => [
  { name: "q", label: "Slug, title or destination" },
  { name: "tag", label: "Tag" },
  {
    name: "state",
    label: "State",
    options: [
      ["", "Active and scheduled"],
      ["active", "Active"],
      ["expired", "Expired"],
      ["archived", "Archived"],
    ],
  },
  {
    name: "sort",
    label: "Sort by",
    options: [
      ["", "Newest first"],
      ["clicks", "Most clicks first"],
      ["last_click", "Most recent click first"],
    ],
  },
  ...(domains.length > 0
    ? [{ name: "domain", label: "Domain", options: [["", "All"] as const, ...domains.map(({ id, host }) => [String(id), host] as const)] }]
    : []),
]

interface ColumnOptions {
  siteId: number
  setFilters(changes: Filters): void
  /** Ids of the selected links. Undefined for users who cannot change links. */
  selected?: ReadonlySet<number>
  onSelect?(selected: ReadonlySet<number>): void
}

const columnsOf = ({ siteId, setFilters, selected, onSelect }: ColumnOptions): Column<ListedLinkResponse>[] => [
  {
    id: "slug",
    label: "Link",
    cell: (link) => (
      <ItemName
        of={LINKS}
        siteId={siteId}
        item={link}
        badges={badgesOf(link)}
        beside={link.title === "" ? undefined : <span class="quiet">{visible(link.title)}</span>}
        note={<Destination of={link} />}
      >
        {selected && onSelect && (
          <input
            type="checkbox"
            aria-label={`Select ${visible(link.slug)}`}
            checked={selected.has(link.id)}
            onChange={(event) => onSelect(withId(selected, link.id, event.currentTarget.checked))}
          />
        )}
      </ItemName>
    ),
  },
  {
    ...{ id: "tags", label: "Tags", wideOnly: true },
    cell: ({ tags }) => <Tags tags={tags} onTag={(tag) => setFilters({ tag })} />,
  },
  {
    ...{ id: "spark", label: "30 days", wideOnly: true },
    cell: ({ slug, sparkline }) =>
      sparkline ? <SparkPair label={`Clicks of ${slug}, 30 days`} {...sparkline} /> : <span class="quiet">n/a</span>,
  },
  countColumn("human", "Clicks", ({ clicks }) => clicks.human),
  { ...countColumn<ListedLinkResponse>("bot", "Bots", ({ clicks }) => clicks.bot), wideOnly: true },
  { id: "last", label: "Last click", wideOnly: true, cell: ({ last_click_at }) => <TimeAgo at={last_click_at} /> },
]

const withId = (ids: ReadonlySet<number>, id: number, isIn: boolean): ReadonlySet<number> =>
  isIn ? new Set([...ids, id]) : new Set([...ids].filter((one) => one !== id))

/** Destination of a link, its host first. */
function Destination({ of: { destination, rules } }: { of: ListedLinkResponse }) {
  const url = webAddress(destination)
  const host = url === undefined ? "" : new URL(url).host
  const rest = host === "" ? destination : destination.slice(destination.indexOf(host) + host.length)
  return (
    <span class="link-target">
      <span aria-hidden="true">→</span>
      <span class="visually-hidden">leads to</span>
      {host !== "" && <span class="link-host">{visible(host)}</span>}
      {rest !== "/" && <TruncatedText text={rest} />}
      {rules.length > 0 && (
        <span class="link-rules">
          +{rules.length} {rules.length === 1 ? "rule" : "rules"}
        </span>
      )}
    </span>
  )
}

const Tags = ({ tags, onTag }: { tags: readonly string[]; onTag(tag: string): void }) => (
  <div class="row tags">
    {tags.map((tag) => (
      <button key={tag} type="button" class="tag" title={`Links with the tag ${visible(tag)}`} onClick={() => onTag(tag)}>
        {visible(tag)}
      </button>
    ))}
  </div>
)

interface SparkPairProps {
  human: readonly number[]
  bot: readonly number[]
  /** Accessible name; totals are appended to it. */
  label: string
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

/** Two small line charts on a common scale from zero: people as a solid line, bots as a dashed one. */
function SparkPair({ human, bot, label }: SparkPairProps) {
  const high = Math.max(...human, ...bot, 1)
  const step = 100 / Math.max(1, human.length - 1)
  const points = (values: readonly number[]) =>
    values.map((value, index) => `${(index * step).toFixed(2)},${(38 - (value / high) * 36).toFixed(2)}`).join(" ")
  return (
    <svg
      class="spark goal-spark"
      viewBox="0 0 100 40"
      preserveAspectRatio="none"
      role="img"
      aria-label={`${label}: ${sum(human)} by people, ${sum(bot)} by bots, at most ${Math.max(...human)} by people in a day`}
    >
      <polyline class="spark-bots" points={points(bot)} vector-effect="non-scaling-stroke" />
      <polyline points={points(human)} vector-effect="non-scaling-stroke" />
    </svg>
  )
}
