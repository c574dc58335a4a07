import { lazy, Suspense } from "preact/compat"
import { useState } from "preact/hooks"
import { Link, useLocation, useParams } from "wouter"
import {
  Answer,
  Button,
  CardAnswer,
  CopyButton,
  CountChart,
  type CountSeries,
  exact,
  Facts,
  FilterBar,
  IgnoredAddressParts,
  Moment,
  Page,
  timeText,
  useRangeQuery,
  useSite,
  useSiteId,
  visible,
  webAddress,
} from "#plugin/ui"
import type { StatsShown } from "../reports/shapes.ts"
import { type LinkAnswer, useRights, useSiteQuery } from "./answers.ts"
import { Breakdowns } from "./breakdowns.tsx"
import { History } from "./history.tsx"
import { StateBadges } from "./link-columns.tsx"
import { LinkMenu } from "./link-menu.tsx"
import { QrDesigner } from "./qr-designer.tsx"
import { Tester } from "./tester.tsx"

const Editor = lazy(() => import("./editor.tsx"))

/** Page of a short link: clicks over the period, destination, QR code. */
export default function LinkPage() {
  const siteId = useSiteId()
  const { link: id = "" } = useParams<{ link: string }>()
  const link = useSiteQuery<LinkAnswer>(siteId, `links/${encodeURIComponent(id)}`)
  const { writes } = useRights(siteId)
  const [isEditing, setEditing] = useState(false)
  const [, navigate] = useLocation()
  const shown = link.data
  return (
    <Page
      title={shown ? visible(shown.title || shown.slug) : "Link"}
      actions={
        shown && (
          <>
            <CopyButton text={shown.short_url} label="Copy short URL" />
            {writes && (
              <>
                <Button icon="pencil" onClick={() => setEditing(true)}>
                  Edit
                </Button>
                <LinkMenu
                  siteId={siteId}
                  link={shown}
                  onEdit={() => setEditing(true)}
                  onGone={() => navigate(`/sites/${siteId}/links`, { replace: true })}
                />
              </>
            )}
          </>
        )
      }
    >
      <p class="small">
        <Link href={`/sites/${siteId}/links`}>All links</Link>
      </p>
      <Answer of={link} rows={6}>
        {(one) => <Shown siteId={siteId} link={one} />}
      </Answer>
      {isEditing && shown && (
        <Suspense fallback={<div class="progress-line" />}>
          <Editor siteId={siteId} link={shown} onClose={() => setEditing(false)} />
        </Suspense>
      )}
    </Page>
  )
}

function Shown({ siteId, link }: { siteId: number; link: LinkAnswer }) {
  const { readsAudit, organizationId } = useRights(siteId)
  const { compared, interval } = useRangeQuery()
  const stats = useSiteQuery<StatsShown>(siteId, `links/${link.id}/stats?${compared}&conversions=true`)
  const series = useSiteQuery<CountSeries>(siteId, `links/${link.id}/timeseries?${interval}`)
  return (
    <div class="stack">
      <FilterBar />
      <IgnoredAddressParts ownCards />
      <LinkFacts siteId={siteId} link={link} />
      <CardAnswer of={series} rows={8}>
        {(data) => <CountChart title="Clicks over time" counts={countsOf(stats.data)} series={data} />}
      </CardAnswer>
      <div class="bands">
        <Breakdowns siteId={siteId} link={link} stats={stats} />
        <QrDesigner link={link} />
        <Tester siteId={siteId} link={link} />
        {readsAudit && <History organizationId={organizationId} link={link} />}
      </div>
    </div>
  )
}

const WINDOWS: Readonly<Record<string, string>> = {
  day: "counted per day",
  week: "counted per week",
  month: "counted per month",
}

function countsOf(stats: StatsShown | undefined) {
  const count = (name: keyof StatsShown["clicks"], label: string) => ({
    ...{ name, label, value: stats?.clicks[name] },
    ...(stats?.comparison && { before: stats.comparison.clicks[name] }),
  })
  const window = WINDOWS[(stats?.meta as { visitor_window?: string } | undefined)?.visitor_window ?? ""]
  return [
    count("human", "Human clicks"),
    { ...count("unique", "Unique people"), ...(window !== undefined && { note: window }) },
    count("bot", "Bot clicks"),
    count("total", "All clicks"),
  ]
}

function LinkFacts({ siteId, link }: { siteId: number; link: LinkAnswer }) {
  const timezone = useSite(siteId).data?.timezone
  const time = (at: string | null) => at !== null && timeText(at, timezone)
  const schedule = [link.starts_at && `from ${time(link.starts_at)}`, link.expires_at && `until ${time(link.expires_at)}`]
  return (
    <Facts
      of={[
        ["Short URL", <Address key="short" text={link.short_url} />],
        [
          "Destination",
          <>
            <Address text={link.destination} />
            {link.rules.length > 0 && `, and ${link.rules.length} ${link.rules.length === 1 ? "rule" : "rules"} with other destinations`}
          </>,
        ],
        [
          "State",
          <>
            {link.state === "active" && "Active"}
            <StateBadges link={{ ...link, sparkline: null }} />
            {schedule.some(Boolean) && `, ${schedule.filter(Boolean).join(" ")}`}
          </>,
        ],
        ...(link.max_clicks === null
          ? []
          : ([["Limit", `${exact(link.clicks.human)} of ${exact(link.max_clicks)} clicks by people used`]] as const)),
        ["All time", `${exact(link.clicks.human)} people, ${exact(link.clicks.bot)} bots, ${exact(link.clicks.qr)} by QR code`],
        ["Last click", <Moment key="last" at={link.last_click_at} />],
        ...(link.tags.length === 0 ? [] : ([["Tags", visible(link.tags.join(", "))]] as const)),
        ...(link.notes === ""
          ? []
          : ([
              [
                "Notes",
                <span key="notes" class="link-notes">
                  {visible(link.notes)}
                </span>,
              ],
            ] as const)),
      ]}
    />
  )
}

/** Shows user-entered text, as a link if it is a web address. */
function Address({ text }: { text: string }) {
  const href = webAddress(text)
  return href === undefined ? (
    <code>{visible(text)}</code>
  ) : (
    <a href={href} target="_blank" rel="noreferrer noopener">
      {visible(text)}
    </a>
  )
}
