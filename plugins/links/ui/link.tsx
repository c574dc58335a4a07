import type { ComponentProps } from "preact"
import { lazy } from "preact/compat"
import {
  Badges,
  CopyButton,
  type DescriptionList,
  exact,
  ItemPage,
  ItemReports,
  TimeAgo,
  timeText,
  useItemReports,
  useSite,
  visible,
  webAddress,
} from "#plugin/ui"
import type { LinkResponse, StatsResponse } from "../responses.ts"
import { badgesOf, LINKS, useRights } from "./answers.ts"
import { Breakdowns } from "./breakdowns.tsx"
import { History } from "./history.tsx"
import { QrDesigner } from "./qr-designer.tsx"
import { Tester } from "./tester.tsx"

const Editor = lazy(() => import("./editor.tsx"))

/** Page of a short link: clicks over the period, destination, QR code. */
export default function LinkPage() {
  return (
    <ItemPage<LinkResponse>
      of={LINKS}
      titleOf={({ title, slug }) => title || slug}
      Editor={Editor}
      actions={({ short_url }) => <CopyButton text={short_url} label="Copy short URL" />}
      lead={(link) => <Lead link={link} />}
    >
      {(link, siteId) => <Reports siteId={siteId} link={link} />}
    </ItemPage>
  )
}

function Reports({ siteId, link }: { siteId: number; link: LinkResponse }) {
  const { readsAudit, organizationId } = useRights(siteId)
  const timezone = useSite(siteId).data?.timezone
  const { stats, series } = useItemReports<StatsResponse>(LINKS, siteId, link.id, "&conversions=true")
  return (
    <ItemReports
      title="Clicks over time"
      counts={countsOf(stats.data)}
      series={series}
      side={
        <>
          <QrDesigner link={link} />
          <Tester siteId={siteId} link={link} />
        </>
      }
      facts={factsOf(link, timezone)}
      last={readsAudit && <History organizationId={organizationId} link={link} />}
    >
      <Breakdowns siteId={siteId} link={link} stats={stats} />
    </ItemReports>
  )
}

/** The short URL and where it leads. */
const Lead = ({ link: { short_url, destination, rules } }: { link: LinkResponse }) => (
  <>
    <Address text={short_url} /> <span aria-hidden="true">→</span>
    <span class="visually-hidden">leads to</span> <Address text={destination} />
    {rules.length > 0 && <span class="quiet">, and {rules.length === 1 ? "1 rule" : `${rules.length} rules`} with other destinations</span>}
  </>
)

const WINDOWS: Readonly<Record<string, string>> = {
  day: "counted per day",
  week: "counted per week",
  month: "counted per month",
}

function countsOf(stats: StatsResponse | undefined) {
  const count = (name: keyof StatsResponse["clicks"], label: string) => ({
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

function factsOf(link: LinkResponse, timezone: string | undefined): ComponentProps<typeof DescriptionList>["of"] {
  const time = (at: string | null) => at !== null && timeText(at, timezone)
  const schedule = [link.starts_at && `from ${time(link.starts_at)}`, link.expires_at && `until ${time(link.expires_at)}`].filter(Boolean)
  return [
    [
      "State",
      <>
        {link.state === "active" && "Active"}
        <Badges of={badgesOf(link)} />
        {schedule.length > 0 && `, ${schedule.join(" ")}`}
      </>,
    ],
    ...(link.max_clicks === null
      ? []
      : ([["Limit", `${exact(link.clicks.human)} of ${exact(link.max_clicks)} clicks by people used`]] as const)),
    ["All time", `${exact(link.clicks.human)} people, ${exact(link.clicks.bot)} bots, ${exact(link.clicks.qr)} by QR code`],
    ["Last click", <TimeAgo key="last" at={link.last_click_at} />],
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
  ]
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
