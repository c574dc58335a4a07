import type { UseQueryResult } from "@tanstack/react-query"
import { Card, CardResult, CountRows, DimensionCard, EmptyState, short, visible } from "#plugin/ui"
import type { LinkResponse, StatsResponse } from "../responses.ts"
import { LINKS } from "./answers.ts"

const CARDS = [
  { title: "Locations", dimensions: ["country", "region", "city", "language"] },
  { title: "Devices", dimensions: ["device", "browser", "os"] },
  { title: "Sources", dimensions: ["source", "referrer", "channel", "utm_source", "utm_campaign"] },
] as const

interface BreakdownsProps {
  siteId: number
  link: LinkResponse
  stats: UseQueryResult<StatsResponse, Error>
}

/** Clicks by location, device, source, bot reason, rule and conversion. */
export function Breakdowns({ siteId, link, stats }: BreakdownsProps) {
  const hasConversions = (stats.data?.conversions?.length ?? 0) > 0
  return (
    <>
      {CARDS.map(({ title, dimensions }) => (
        <DimensionCard
          key={title}
          of={LINKS}
          siteId={siteId}
          id={link.id}
          title={title}
          dimensions={dimensions}
          counts={{ human: "Human", bot: "Bot" }}
          empty="No clicks in this period."
        />
      ))}
      <Card title="Bot clicks by reason">
        <CardResult of={stats} rows={5}>
          {({ bot_reasons }) => <BotReasons of={bot_reasons} />}
        </CardResult>
      </Card>
      {link.rules.length > 0 && (
        <Card title="Rules">
          <CardResult of={stats} rows={5}>
            {({ rules }) => <RuleCounts rules={rules} link={link} />}
          </CardResult>
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
function RuleCounts({ rules, link }: { rules: StatsResponse["rules"]; link: LinkResponse }) {
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
