import { Type as t } from "@sinclair/typebox"
import { ReportRange } from "../../../domain/report.ts"
import { Id } from "../tagged.ts"

const Numbers = t.Record(t.String(), t.Number())

export const OverviewResponse = t.Object(
  {
    data: t.Array(
      t.Object({
        site_id: Id,
        name: t.String(),
        organization_id: Id,
        current_visitors: t.Integer({ minimum: 0 }),
        range: t.Optional(ReportRange),
        metrics: t.Optional(Numbers),
        change_percent: t.Optional(Numbers),
        problem: t.Optional(t.String({ description: "Error code if the site has no result at the moment." })),
      }),
    ),
  },
  { title: "Overview" },
)
