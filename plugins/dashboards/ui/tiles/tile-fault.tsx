import { Button, ButtonLink, errorText, Icon } from "#plugin/ui"
import type { WidgetResult } from "../../responses.ts"
import type { ShownWidget } from "./panel.ts"

interface TileFaultProps {
  widget: ShownWidget
  result: WidgetResult | undefined
  error: Error | undefined
  onRetry?: (() => void) | undefined
  repairAddress: string | undefined
}

/** Why a widget shows no figures, with the one thing to do about it. Other widgets are not affected. */
export function TileFault({ widget, result, error, onRetry, repairAddress }: TileFaultProps) {
  if (result?.status === "unavailable") return <Unavailable />
  const { text, act } = result?.status === "error" ? faultOf(widget, result.error) : { text: errorText(error!), act: "retry" as const } // one of both
  return (
    <div class="state" role="status">
      <p>{text}</p>
      {act === "retry" && onRetry && <Button onClick={onRetry}>Try again</Button>}
      {act !== "retry" && act !== undefined && repairAddress !== undefined && <ButtonLink href={repairAddress}>{act}</ButtonLink>}
    </div>
  )
}

interface Fault {
  text: string
  /** Label of the button that leads to the editor, or `retry`. */
  act?: string
}

const REFERENCES = [
  ["goal", "goal_id"],
  ["funnel", "funnel_id"],
  ["segment", "segment_id"],
  ["cohort", "cohort_id"],
  ["goal", "goal_ids"],
  ["link", "link_ids"],
  ["pixel", "pixel_ids"],
] as const

function faultOf({ config }: ShownWidget, { code, detail }: { code: string; detail: string }): Fault {
  switch (code) {
    case "broken_reference": {
      const thing = REFERENCES.find(([, field]) => config[field] !== undefined)?.[0]
      return thing ? { text: `This ${thing} was deleted.`, act: `Replace ${thing}` } : { text: detail, act: "Edit widget" }
    }
    case "forbidden":
      return { text: "You don't have permission to see these figures. An owner or admin of the organization can grant it." }
    case "site_not_found":
      return { text: "The site of this widget doesn't exist, or you don't have access to it.", act: "Edit widget" }
    case "query_timeout":
      return { text: "The report took too long. Choose a shorter period or fewer filters.", act: "retry" }
    case "internal_error":
      return { text: detail, act: "retry" }
    case "unsupported_combination":
      return { text: detail, act: "Edit widget" }
    default:
      return { text: detail }
  }
}

export const Unavailable = () => (
  <p class="tile-unavailable quiet">
    <Icon name="lock" /> Unavailable
  </p>
)
