import type { UseQueryResult } from "@tanstack/react-query"
import { useState } from "preact/hooks"
import { Card, CardAnswer, CountRows, dimensionLabel, EmptyState, short, useRangeQuery, valueText, visible } from "#plugin/ui"
import type { BreakdownShown, StatsShown } from "../reports/shapes.ts"
import { type LinkAnswer, useSiteQuery } from "./answers.ts"

const CARDS = [
  { title: "Locations", dimensions: ["country", "region", "city", "language"] },
  { title: "Devices", dimensions: ["device", "browser", "os"] },
  { title: "Sources", dimensions: ["source", "referrer", "channel", "utm_source", "utm_campaign"] },
] as const
type CardDimension = (typeof CARDS)[number]["dimensions"][number]
const COUNTS = { human: "Human", bot: "Bot" }
const ROWS = 9

interface BreakdownsProps {
  siteId: number
  link: LinkAnswer
  stats: UseQueryResult<StatsShown, Error>
}

/** Clicks by location, device, source, bot reason, rule and conversion. */
export function Breakdowns({ siteId, link, stats }: BreakdownsProps) {
  const hasConversions = (stats.data?.conversions?.length ?? 0) > 0
  return (
    <>
      {CARDS.map(({ title, dimensions }) => (
        <DimensionCard key={title} title={title} dimensions={dimensions} siteId={siteId} link={link} />
      ))}
      <Card title="Bot clicks by reason">
        <CardAnswer of={stats} rows={6}>
          {({ bot_reasons }) => <BotReasons of={bot_reasons} />}
        </CardAnswer>
      </Card>
      {link.rules.length > 0 && (
        <Card title="Rules">
          <CardAnswer of={stats} rows={6}>
            {({ rules }) => <RuleCounts rules={rules} link={link} />}
          </CardAnswer>
        </Card>
      )}
      {hasConversions && (
        <Card title="Conversions after a click">
          <CountRows
            title="Goal"
            counts={{ visits: "Visits" }}
            rows={stats.data!.conversions!.map(({ name, visits }) => ({ value: name, visits }))}
          />
          <p class="small quiet">Visits that the same person started within 30 minutes of a click.</p>
        </Card>
      )}
    </>
  )
}

interface DimensionCardProps {
  title: string
  dimensions: readonly CardDimension[]
  siteId: number
  link: LinkAnswer
}

function DimensionCard({ title, dimensions, siteId, link }: DimensionCardProps) {
  const [dimension, setDimension] = useState(dimensions[0]!)
  const { plain } = useRangeQuery()
  const rows = useSiteQuery<BreakdownShown>(siteId, `links/${link.id}/breakdown?dimension=${dimension}&limit=${ROWS}&${plain}`)
  return (
    <Card<CardDimension>
      title={title}
      tabs={dimensions.map((id) => ({ id, label: dimensionLabel(id) }))}
      chosen={dimension}
      onChoose={setDimension}
    >
      <CardAnswer of={rows}>
        {(data) =>
          data.rows.length === 0 ? (
            <EmptyState>No clicks in this period.</EmptyState>
          ) : (
            <CountRows
              title={dimensionLabel(data.dimension as CardDimension)}
              counts={COUNTS}
              rows={data.rows.map((row) => ({ ...row, label: valueText(data.dimension, row.value, row.label) }))}
            />
          )
        }
      </CardAnswer>
    </Card>
  )
}

const REASONS: Readonly<Record<string, string>> = {
  head: "HEAD request",
  prefetch: "Prefetch or link preview",
  no_ua: "No user agent",
  ua: "User agent of a bot",
  datacenter: "Data centre",
  burst: "Many clicks within two seconds",
}

function BotReasons({ of: reasons }: { of: Readonly<Record<string, number>> }) {
  const rows = Object.entries(reasons).sort((a, b) => b[1] - a[1])
  return rows.length === 0 ? (
    <EmptyState>No bot clicks in this period.</EmptyState>
  ) : (
    <CountRows
      title="Reason"
      counts={{ clicks: "Clicks" }}
      rows={rows.map(([value, clicks]) => ({ value, label: REASONS[value] ?? value, clicks }))}
    />
  )
}

/** Human clicks by rule, with rules that were never applied and rules that were deleted. */
function RuleCounts({ rules, link }: { rules: StatsShown["rules"]; link: LinkAnswer }) {
  const counted = new Map(rules.map(({ rule, human }) => [rule, human]))
  const numbers = [...new Set([0, ...link.rules.map((_, index) => index + 1), ...counted.keys()])]
  return (
    <dl class="facts">
      {numbers.map((number) => (
        <>
          <dt>{number === 0 ? "No rule" : `Rule ${number}`}</dt>
          <dd>
            <strong>{short(counted.get(number) ?? 0)}</strong>{" "}
            <span class="small quiet">
              {visible(number === 0 ? link.destination : (link.rules[number - 1]?.destination ?? "deleted rule"))}
            </span>
          </dd>
        </>
      ))}
    </dl>
  )
}
