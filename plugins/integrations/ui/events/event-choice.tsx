import { Checkbox } from "#plugin/ui"
import { type EventFacts, fieldsOf, groupsOf } from "./events.ts"

interface EventChoiceProps {
  events: readonly EventFacts[]
  chosen: readonly string[]
  onChosen(chosen: string[]): void
  /** Whether each event says what its message contains, for programs that read it. */
  hasFields?: boolean
}

/** Events to choose from, in groups. */
export const EventChoice = ({ events, chosen, onChosen, hasFields = false }: EventChoiceProps) => (
  <>
    {groupsOf(events).map(({ heading, events: group }) => (
      <fieldset key={heading}>
        <legend>{heading}</legend>
        <div class="mapping-rows">
          {group.map((one) => (
            <Checkbox
              key={one.event}
              label={one.title}
              note={
                hasFields && (
                  <>
                    <code>{one.event}</code> {noteOf(one)}
                  </>
                )
              }
              checked={chosen.includes(one.event)}
              onChange={(checked) => onChosen(checked ? [...chosen, one.event] : chosen.filter((event) => event !== one.event))}
            />
          ))}
        </div>
      </fieldset>
    ))}
  </>
)

const noteOf = (one: EventFacts): string => {
  const fields = fieldsOf(one).map((name) => name.replaceAll("_", " "))
  return fields.length === 0 ? "" : `with ${fields.join(", ")}`
}
