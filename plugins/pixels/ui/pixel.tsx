import { lazy, Suspense } from "preact/compat"
import { useState } from "preact/hooks"
import { Link, useLocation, useParams } from "wouter"
import {
  Answer,
  Button,
  Card,
  CardAnswer,
  CountChart,
  type CountSeries,
  canOnSite,
  exact,
  Facts,
  FilterBar,
  IgnoredAddressParts,
  Moment,
  Page,
  useMe,
  useRangeQuery,
  useSiteId,
  visible,
} from "#plugin/ui"
import { type PixelAnswer, type PixelStats, useSiteQuery } from "./answers.ts"
import { OpenBreakdowns } from "./breakdowns.tsx"
import { KIND_WORDS, MEANINGS } from "./kinds.ts"
import { PixelMenu } from "./pixel-menu.tsx"
import { Snippets } from "./snippets.tsx"

const PixelForm = lazy(() => import("./pixel-form.tsx"))

/** Page of a tracking pixel: opens over the period, their meaning, and the snippet. */
export default function PixelPage() {
  const siteId = useSiteId()
  const { pixel: id = "" } = useParams<{ pixel: string }>()
  const pixel = useSiteQuery<PixelAnswer>(siteId, `pixels/${encodeURIComponent(id)}`)
  const writes = canOnSite(useMe(), siteId, "pixels:write")
  const [isEditing, setEditing] = useState(false)
  const [, navigate] = useLocation()
  const shown = pixel.data
  return (
    <Page
      title={shown ? visible(shown.name) : "Pixel"}
      actions={
        shown &&
        writes && (
          <>
            <Button icon="pencil" onClick={() => setEditing(true)}>
              Edit
            </Button>
            <PixelMenu
              siteId={siteId}
              pixel={shown}
              onEdit={() => setEditing(true)}
              onGone={() => navigate(`/sites/${siteId}/pixels`, { replace: true })}
            />
          </>
        )
      }
    >
      <p class="small">
        <Link href={`/sites/${siteId}/pixels`}>All pixels</Link>
      </p>
      <Answer of={pixel} rows={6}>
        {(one) => <Shown siteId={siteId} pixel={one} />}
      </Answer>
      {isEditing && shown && (
        <Suspense fallback={<div class="progress-line" />}>
          <PixelForm siteId={siteId} pixel={shown} onClose={() => setEditing(false)} />
        </Suspense>
      )}
    </Page>
  )
}

function Shown({ siteId, pixel }: { siteId: number; pixel: PixelAnswer }) {
  const { compared, interval } = useRangeQuery()
  const stats = useSiteQuery<PixelStats>(siteId, `pixels/${pixel.id}/stats?${compared}`)
  const series = useSiteQuery<CountSeries>(siteId, `pixels/${pixel.id}/timeseries?${interval}`)
  return (
    <div class="stack">
      <FilterBar />
      <IgnoredAddressParts ownCards />
      <PixelFacts pixel={pixel} />
      <CardAnswer of={series} rows={8}>
        {(data) => <CountChart title="Opens over time" counts={countsOf(stats.data)} series={data} />}
      </CardAnswer>
      <UniqueLine stats={stats.data} />
      <div class="bands">
        <Card title="What an open means">
          <ul class="stack">
            {MEANINGS[pixel.kind].map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
        </Card>
        <Snippets siteId={siteId} pixel={pixel} />
        <OpenBreakdowns siteId={siteId} pixel={pixel} />
      </div>
    </div>
  )
}

const COUNTS = [
  ["opens_total", "Opens"],
  ["opens_direct", "Direct"],
  ["opens_proxied", "Proxied"],
  ["opens_prefetched", "Prefetched"],
  ["bots", "Bots (not in opens)"],
] as const

const countsOf = (stats: PixelStats | undefined) =>
  COUNTS.map(([name, label]) => ({ name, label, value: stats?.[name], ...(stats?.comparison && { before: stats.comparison[name] }) }))

/** Estimated number of readers, with the reasons why it is an estimate. */
const UniqueLine = ({ stats }: { stats: PixelStats | undefined }) =>
  stats ? (
    <div>
      <p>
        ≈ {exact(stats.unique_est)} {stats.unique_est === 1 ? "reader" : "readers"} in this period
      </p>
      <ul class="small quiet">
        {stats.meta.notes.map((note) => (
          <li key={note}>{visible(note.replace(/^unique_est /, "The number of readers "))}</li>
        ))}
      </ul>
    </div>
  ) : null

const PixelFacts = ({ pixel }: { pixel: PixelAnswer }) => (
  <Facts
    of={[
      ["Used in", KIND_WORDS[pixel.kind]],
      ["State", pixel.archived ? "Archived. The image still loads, but opens are not counted." : "Active"],
      ["All time", `${exact(pixel.opens_total)} opens, ${exact(pixel.opens_direct)} of them direct`],
      ["Last open", <Moment key="last" at={pixel.last_open_at} />],
      ["Stored parameters", pixel.allowed_params.length === 0 ? "none" : pixel.allowed_params.map(visible).join(", ")],
      ["Recipients", pixel.recipient_mode === "hashed" ? "distinguished by a keyed hash of the parameter r" : "not distinguished"],
    ]}
  />
)
