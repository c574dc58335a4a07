import { lazy } from "preact/compat"
import { type Column, exact, ItemName, type ListFilter, ListPage, percent, TimeAgo, useSiteId } from "#plugin/ui"
import type { CohortResponse } from "../responses.ts"
import { useNames } from "./answers.ts"
import { COHORTS } from "./cohort-items.ts"
import { SiteIdentityBanner } from "./identity.tsx"
import { describe } from "./labels.ts"

const Editor = lazy(() => import("./editor.tsx"))

/** List of the site's cohorts with their sizes. */
export default function Cohorts() {
  return (
    <ListPage<CohortResponse>
      of={COHORTS}
      caption="Cohorts"
      filters={FILTERS}
      columns={columnsOf}
      empty="No cohorts yet. A cohort is a set of people defined by what they did, such as those who signed up and did not buy within a week."
      Editor={Editor}
    >
      <SiteIdentityBanner siteId={useSiteId()} />
    </ListPage>
  )
}

function Conditions({ siteId, of }: { siteId: number; of: CohortResponse["definition"] }) {
  return <>{describe(of, useNames(siteId, of)).join(" ")}</>
}

const FILTERS: readonly ListFilter[] = [{ name: "q", label: "Name or description" }]

const columnsOf = (siteId: number): Column<CohortResponse>[] => [
  {
    id: "name",
    label: "Cohort",
    cell: (cohort) => (
      <ItemName
        of={COHORTS}
        siteId={siteId}
        item={cohort}
        badges={[...(cohort.kind === "static" ? ["frozen"] : []), ...(cohort.broken ? ["broken"] : [])]}
        note={cohort.description || <Conditions siteId={siteId} of={cohort.definition} />}
      />
    ),
  },
  { id: "size", label: "People", number: true, cell: ({ size }) => (size === null ? <span class="quiet">–</span> : exact(size)) },
  { id: "pending", label: "Not decided", number: true, wideOnly: true, cell: ({ pending }) => exact(pending ?? undefined) },
  { id: "coverage", label: "Recognized", number: true, wideOnly: true, cell: ({ coverage }) => percent(coverage ?? undefined) },
  { id: "computed", label: "Computed", wideOnly: true, cell: ({ computed_at }) => <TimeAgo at={computed_at} /> },
]
