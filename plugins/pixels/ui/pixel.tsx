import { lazy } from "preact/compat"
import { useState } from "preact/hooks"
import {
  Card,
  CopyButton,
  DimensionCard,
  dimensionLabel,
  exact,
  ItemPage,
  ItemReports,
  QueryResult,
  TimeAgo,
  useItemReports,
  valueText,
  visible,
} from "#plugin/ui"
import type { SnippetFormat } from "../images.ts"
import type { PixelKind } from "../pixel.ts"
import type { PixelResponse, SnippetResponse, StatsResponse } from "../responses.ts"
import type { Via } from "../via.ts"
import { KIND_LABELS, PIXELS, useSiteQuery } from "./answers.ts"

const Editor = lazy(() => import("./pixel-form.tsx"))

/** Page of a tracking pixel: opens over the period, their meaning, and the snippet. */
export default function PixelPage() {
  return (
    <ItemPage<PixelResponse> of={PIXELS} Editor={Editor} lead={({ kind }) => KIND_LABELS[kind]}>
      {(pixel, siteId) => <Reports siteId={siteId} pixel={pixel} />}
    </ItemPage>
  )
}

interface PixelProps {
  siteId: number
  pixel: PixelResponse
}

function Reports({ siteId, pixel }: PixelProps) {
  const { stats, series } = useItemReports<StatsResponse>(PIXELS, siteId, pixel.id)
  return (
    <ItemReports
      title="Opens over time"
      counts={countsOf(stats.data)}
      series={series}
      note={<UniqueLine stats={stats.data} />}
      side={
        <>
          <Snippets siteId={siteId} pixel={pixel} />
          <Card title="What an open means">
            <ul class="stack small meanings">
              {MEANINGS[pixel.kind].map((sentence) => (
                <li key={sentence}>{sentence}</li>
              ))}
            </ul>
          </Card>
        </>
      }
      facts={factsOf(pixel)}
    >
      <OpenBreakdowns siteId={siteId} pixel={pixel} />
    </ItemReports>
  )
}

const factsOf = (pixel: PixelResponse) =>
  [
    ["State", pixel.archived ? "Archived. The image still loads, but opens are not counted." : "Active"],
    ["All time", `${exact(pixel.opens_total)} opens, ${exact(pixel.opens_direct)} of them direct`],
    ["Last open", <TimeAgo key="last" at={pixel.last_open_at} />],
    ["Stored parameters", pixel.allowed_params.length === 0 ? "none" : pixel.allowed_params.map(visible).join(", ")],
    ["Recipients", pixel.recipient_mode === "hashed" ? "distinguished by a keyed hash of the parameter r" : "not distinguished"],
  ] as const

const COUNTS = [
  ["opens_total", "Opens"],
  ["opens_direct", "Direct"],
  ["opens_proxied", "Proxied"],
  ["opens_prefetched", "Prefetched"],
  ["bots", "Bots (not in opens)"],
] as const

const countsOf = (stats: StatsResponse | undefined) =>
  COUNTS.map(([name, label]) => ({ name, label, value: stats?.[name], ...(stats?.comparison && { before: stats.comparison[name] }) }))

/** Estimated number of readers, with the reasons why it is an estimate. */
const UniqueLine = ({ stats }: { stats: StatsResponse | undefined }) => (
  <details class="estimate">
    <summary>
      ≈ {exact(stats?.unique_est)} {stats?.unique_est === 1 ? "reader" : "readers"} in this period
    </summary>
    <ul class="small quiet">
      {stats?.meta.notes.map((note) => (
        <li key={note}>{visible(note.replace(/^unique_est /, "The number of readers "))}</li>
      ))}
    </ul>
  </details>
)

const PROXY = "loads images through a proxy, so you see when and how often, but not where or on which device."
const BLOCKERS = "Blockers and programs that don't load images hide real readers, so the real number is higher by an unknown amount."

/** What an open means, by kind of pixel, the most important sentence first. */
const MEANINGS: Readonly<Record<PixelKind, readonly string[]>> = {
  email: [
    "An open means that a program loaded the image of the email. It does not mean that someone read it.",
    "Apple Mail and email security gateways load images that no one has seen. These are listed separately as prefetched.",
    "Gmail and Yahoo load images through a proxy, so you see when and how often, but not where or on which device.",
    BLOCKERS,
  ],
  rss: [
    "An open means that a feed reader showed the entry or preloaded it.",
    "Web-based feed readers load the image once for all their subscribers.",
    BLOCKERS,
  ],
  readme: [
    "An open means that a page with the README was shown.",
    `GitHub ${PROXY} It may cache the image despite being asked not to, so some views are missing.`,
    "Package registries and mirrors that copy the README load the image, too, so opens are not limited to your repository.",
  ],
  page: [
    "An open means that a browser showed the page with the image, or a part of it.",
    "Nothing else is known about the visit, such as its duration or other pages. Opens are not included in the site's metrics.",
    BLOCKERS,
  ],
}

const FORMATS: readonly { id: SnippetFormat; label: string }[] = [
  { id: "html", label: "HTML" },
  { id: "markdown", label: "Markdown" },
  { id: "rst", label: "reStructuredText" },
  { id: "bbcode", label: "BBCode" },
]

/** Snippet to paste into an email, feed, README or page. */
function Snippets({ siteId, pixel }: { siteId: number; pixel: PixelResponse }) {
  const [format, setFormat] = useState<SnippetFormat>(pixel.kind === "readme" ? "markdown" : "html")
  const snippet = useSiteQuery<SnippetResponse>(siteId, `pixels/${pixel.id}/snippet?format=${format}`)
  return (
    <Card<SnippetFormat> title="Snippet" foot={<Hints pixel={pixel} />} tabs={FORMATS} chosen={format} onChoose={setFormat}>
      <QueryResult of={snippet} rows={3}>
        {({ snippet: text }) => (
          <div class="stack">
            <pre class="snippet" tabIndex={0} aria-label="Snippet">
              {text}
            </pre>
            <div class="row">
              <CopyButton text={text} label="Copy snippet" />
            </div>
          </div>
        )}
      </QueryResult>
    </Card>
  )
}

function Hints({ pixel: { allowed_params, recipient_mode } }: { pixel: PixelResponse }) {
  const named = [...allowed_params.map((name) => `${name}=…`), ...(recipient_mode === "hashed" ? ["r=…"] : [])]
  return named.length === 0 ? (
    <span>The URL changes only when you change the slug.</span>
  ) : (
    <span>
      Add <code>?{named.join("&")}</code> to the URL of the image to distinguish opens.
    </span>
  )
}

const ROUTE_LABELS: Readonly<Record<Via, string>> = {
  direct: "Direct",
  github_camo: "GitHub, proxied",
  gmail_proxy: "Gmail, proxied",
  yahoo_proxy: "Yahoo Mail, proxied",
  apple_mpp: "Apple Mail, prefetched",
  outlook_scan: "Email security gateway, prefetched",
  bot: "Bots (not in opens)",
}
const PLACES = ["country", "region", "city", "language"] as const
const DEVICES = ["device", "browser", "os"] as const

/** Opens by route and by parameter; direct opens also by location and device. */
function OpenBreakdowns({ siteId, pixel }: PixelProps) {
  const card = (title: string, dimensions: readonly string[]) => (
    <DimensionCard
      of={PIXELS}
      siteId={siteId}
      id={pixel.id}
      title={title}
      dimensions={dimensions}
      counts={{ opens: "Opens" }}
      empty="No opens in this period."
      headOf={headOf}
      labelOf={labelOf}
    />
  )
  const params = pixel.allowed_params.map((name) => `param:${name}`)
  return (
    <>
      {card("How it was opened", ["via"])}
      {params.length > 0 && card("Parameters", params)}
      {card("Locations", PLACES)}
      {card("Devices", DEVICES)}
    </>
  )
}

const headOf = (dimension: string): string =>
  dimension === "via"
    ? "How it was opened"
    : dimension.startsWith("param:")
      ? visible(dimension.slice("param:".length))
      : dimensionLabel(dimension as Parameters<typeof dimensionLabel>[0])

const labelOf = (dimension: string, value: string, label?: string): string =>
  dimension === "via" ? (ROUTE_LABELS[value as Via] ?? value) : valueText(dimension, value, label)
