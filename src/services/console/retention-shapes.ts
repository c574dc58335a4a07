import { Type as t } from "@sinclair/typebox"
import { THINGS } from "../../domain/limits.ts"

const { min: minimum, max: maximum } = THINGS.retentionDays
/** How long events are kept. */
export const Days = t.Integer({ minimum, maximum })
export const DaysOrNull = t.Union([Days, t.Null()])
export const SiteId = t.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })
