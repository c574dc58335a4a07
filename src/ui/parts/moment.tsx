import { agoText } from "../text/ago.ts"
import { timeText } from "../text/format.ts"

/** Shows how long ago an instant was, with the full time as the title. */
export const Moment = ({ at, none = "never" }: { at: string | null; none?: string }) =>
  at === null ? (
    <span class="quiet">{none}</span>
  ) : (
    <time dateTime={at} title={timeText(at)}>
      {agoText(at)}
    </time>
  )
