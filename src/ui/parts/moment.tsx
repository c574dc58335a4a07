import { agoText } from "../ago.ts"
import { timeText } from "../format.ts"

/** How long ago; the moment itself as its title. */
export const Moment = ({ at, none = "never" }: { at: string | null; none?: string }) =>
  at === null ? (
    <span class="quiet">{none}</span>
  ) : (
    <time dateTime={at} title={timeText(at)}>
      {agoText(at)}
    </time>
  )
