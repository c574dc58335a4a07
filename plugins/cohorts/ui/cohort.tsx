import { lazy, Suspense } from "preact/compat"
import { useState } from "preact/hooks"
import { Link, useLocation } from "wouter"
import {
  Button,
  Card,
  type Column,
  DescriptionList,
  Dialog,
  dimensionLabel,
  ErrorState,
  exact,
  Form,
  ItemPage,
  PagedTable,
  percent,
  post,
  QueryResult,
  Sparkline,
  TextField,
  TimeAgo,
  toast,
  useRows,
  valueText,
  visible,
} from "#plugin/ui"
import { isGroup } from "../cohort.ts"
import type { CohortResponse, EvaluationResponse, MemberResponse } from "../responses.ts"
import { cohortsAddress, cohortsPath, isInsufficient, useNames, useRefresh, useRights, useSiteAnswer } from "./answers.ts"
import { COHORTS } from "./cohort-items.ts"
import { CohortField, SizeText } from "./fields.tsx"
import { IdentityBanner, Insufficient } from "./identity.tsx"
import { describe, peopleText } from "./labels.ts"

const Editor = lazy(() => import("./editor.tsx"))

/** Page of a cohort: its size over time, what its people have in common, and who they are. */
export default function CohortPage() {
  return (
    <ItemPage<CohortResponse> of={COHORTS} Editor={Editor} actions={(cohort) => <Actions cohort={cohort} />}>
      {(cohort, siteId) => <Report siteId={siteId} cohort={cohort} />}
    </ItemPage>
  )
}

function Actions({ cohort }: { cohort: CohortResponse }) {
  const [isFreezing, setFreezing] = useState(false)
  const siteId = useSiteIdOfPage()
  const { writes } = useRights(siteId)
  return (
    <>
      {!cohort.broken && (
        <Link class="button" href={`/sites/${siteId}?cohort=${cohort.id}`}>
          Use as filter
        </Link>
      )}
      {writes && !cohort.broken && <Button onClick={() => setFreezing(true)}>Freeze</Button>}
      {isFreezing && (
        <Suspense fallback={null}>
          <FreezeDialog siteId={siteId} cohort={cohort} onClose={() => setFreezing(false)} />
        </Suspense>
      )}
    </>
  )
}

const useSiteIdOfPage = (): number => Number(/^\/sites\/(\d+)/.exec(useLocation()[0])?.[1])

/** Dialog that copies a cohort with the people it has now. */
function FreezeDialog({ siteId, cohort, onClose }: { siteId: number; cohort: CohortResponse; onClose(): void }) {
  const [name, setName] = useState(`${cohort.name}, ${new Date().toISOString().slice(0, 10)}`)
  const [, navigate] = useLocation()
  const refresh = useRefresh(siteId)
  const submit = async () => {
    const frozen = await post<CohortResponse>(`${cohortsPath(siteId)}/${cohort.id}/freeze`, { name: name.trim() })
    await refresh()
    toast(`${visible(frozen.name)} created`)
    onClose()
    navigate(`${cohortsAddress(siteId)}/${frozen.id}`)
  }
  return (
    <Dialog title={`Freeze ${visible(cohort.name)}`} onClose={onClose}>
      <Form submit={submit} label="Freeze cohort">
        {({ busy, errorOf }) => (
          <>
            <p>The copy keeps the people whom the cohort contains now. It does not change when they or others do something later.</p>
            <TextField label="Name of the copy" value={name} onValue={setName} error={errorOf("/name")} maxLength={120} autofocus />
            <div class="dialog-foot">
              <Button onClick={onClose}>Cancel</Button>
              <Button kind="primary" type="submit" busy={busy}>
                Freeze cohort
              </Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}

const BREAKDOWNS = ["channel", "country", "device"] as const
const OTHERS = ["source", "browser", "os", "entry_page", "language", "utm_campaign"] as const

function Report({ siteId, cohort }: { siteId: number; cohort: CohortResponse }) {
  const [compared, setCompared] = useState("")
  const [third, setThird] = useState<string>("device")
  const { seesPeople } = useRights(siteId)
  const question = {
    cohort_id: cohort.id,
    breakdown: [BREAKDOWNS[0], BREAKDOWNS[1], third],
    trend_days: 30,
    ...(compared && { compare_to: Number(compared) }),
  }
  const answer = useSiteAnswer<EvaluationResponse>(siteId, "cohorts/evaluate", question, !cohort.broken)
  return (
    <div class="stack">
      <Card title="Definition">
        <DescriptionList of={factsOf(siteId, cohort)} />
      </Card>
      {cohort.broken ? (
        <p class="notice" data-kind="warn">
          <span>
            A goal, funnel, segment or cohort of the definition was deleted, so the cohort can't be computed. Edit it to use it again.
            {cohort.size !== null && (
              <>
                {" "}
                It had {peopleText(cohort.size)} when it was last computed, <TimeAgo at={cohort.computed_at} />.
              </>
            )}
          </span>
        </p>
      ) : isInsufficient(answer.error) && !answer.data ? (
        <Insufficient siteId={siteId} problem={answer.error} />
      ) : answer.error && !answer.data ? (
        <ErrorState error={answer.error} onRetry={() => void answer.refetch()} />
      ) : (
        <>
          <Card title="Size" full foot={answer.data && <IdentityBanner siteId={siteId} of={answer.data.identity} />}>
            <QueryResult of={answer} rows={3}>
              {(data) => (
                <div class="stack">
                  <p class="cohort-size">
                    <SizeText of={data} />
                  </p>
                  <Trend of={data} />
                  <div class="row cohort-compare">
                    <CohortField
                      siteId={siteId}
                      label="Compare with"
                      none="No cohort"
                      without={cohort.id}
                      value={compared}
                      onValue={setCompared}
                    />
                    {data.compared && (
                      <p>
                        {data.compared.people === null
                          ? "Too few people to compare."
                          : `${peopleText(data.compared.people)} in both cohorts, of ${exact(data.compared.size ?? undefined)} in the other one.`}
                      </p>
                    )}
                  </div>
                </div>
              )}
            </QueryResult>
          </Card>
          {answer.data && (
            <div class="bands cohort-breakdowns">
              {answer.data.breakdown.map((part, index) => (
                <Card
                  key={part.dimension}
                  title={dimensionLabel(part.dimension as "country")}
                  {...(index === 2 && {
                    marks: (
                      <select
                        class="input card-actions"
                        aria-label="Dimension"
                        value={third}
                        onChange={(event) => setThird(event.currentTarget.value)}
                      >
                        {["device", ...OTHERS].map((name) => (
                          <option key={name} value={name}>
                            {dimensionLabel(name as "country")}
                          </option>
                        ))}
                      </select>
                    ),
                  })}
                >
                  <Breakdown of={part} />
                </Card>
              ))}
            </div>
          )}
        </>
      )}
      {seesPeople && !cohort.broken && <Members siteId={siteId} cohort={cohort} />}
    </div>
  )
}

const factsOf = (siteId: number, cohort: CohortResponse) =>
  [
    ["People who", <Conditions key="who" siteId={siteId} of={cohort.definition} />],
    ...(cohort.description ? ([["Description", visible(cohort.description)]] as const) : []),
    ...(cohort.restrict ? ([["Counted", "only people with a user ID or stored ID"]] as const) : []),
    ...(cohort.kind === "static" ? ([["Frozen", <TimeAgo key="at" at={cohort.computed_at} />]] as const) : []),
  ] as const

/** One line per condition. They are numbered if one of them refers to another by its number. */
function Conditions({ siteId, of }: { siteId: number; of: CohortResponse["definition"] }) {
  const sentences = describe(of, useNames(siteId, of))
  const isNumbered = of.conditions.some((item) => !isGroup(item) && item.window?.type === "after")
  const items = sentences.map((text, index) => <li key={index}>{text}</li>) // conditions are known by their place
  return isNumbered ? <ol class="numbered-list">{items}</ol> : <ul class="plain-list">{items}</ul>
}

function Trend({ of: { trend } }: { of: EvaluationResponse }) {
  const sizes = trend.map(({ size }) => size)
  if (sizes.length < 2 || sizes.some((size) => size === null)) return null
  return (
    <div class="cohort-trend">
      <Sparkline values={sizes as number[]} label={`Size over the last ${sizes.length} days`} />
      <p class="small quiet">Size as of each of the last {sizes.length} days</p>
    </div>
  )
}

function Breakdown({ of: { dimension, rows } }: { of: EvaluationResponse["breakdown"][number] }) {
  if (rows.length === 0) return <p class="quiet">No group is large enough to be shown.</p>
  return (
    <table class="table">
      <caption class="visually-hidden">The cohort by {dimensionLabel(dimension as "country").toLowerCase()}</caption>
      <thead>
        <tr>
          <th scope="col">{dimensionLabel(dimension as "country")}</th>
          <th scope="col" class="number">
            People
          </th>
          <th scope="col" class="number">
            Share
          </th>
          <th scope="col" class="number">
            Of everyone
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.slice(0, 9).map(({ value, people, share, share_of_all }) => (
          <tr key={value}>
            <th scope="row">{visible(valueText(dimension, value ?? "(none)"))}</th>
            <td class="number">{exact(people)}</td>
            <td class="number">{percent(share)}</td>
            <td class="number quiet">{percent(share_of_all)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** The people of a cohort, where they are recognized for long enough. */
function Members({ siteId, cohort }: { siteId: number; cohort: CohortResponse }) {
  const members = useRows<MemberResponse>(["cohorts", siteId, "members", cohort.id], `${cohortsPath(siteId)}/${cohort.id}/members`)
  if (isInsufficient(members.error)) return null
  return (
    <Card title="People" full>
      <PagedTable
        stacks
        of={members}
        caption="People in the cohort"
        columns={memberColumns(siteId)}
        keyOf={({ person }) => person}
        empty="No one is in this cohort."
      />
    </Card>
  )
}

const memberColumns = (siteId: number): Column<MemberResponse>[] => [
  {
    id: "person",
    label: "Person",
    cell: ({ person, label }) => <Link href={`/sites/${siteId}/power-users/${person}`}>{visible(label)}</Link>,
  },
  { id: "first", label: "First seen", cell: ({ first_seen }) => <TimeAgo at={first_seen} /> },
  { id: "last", label: "Last seen", cell: ({ last_seen }) => <TimeAgo at={last_seen} /> },
  { id: "visits", label: "Visits", number: true, cell: ({ visits }) => exact(visits) },
]
