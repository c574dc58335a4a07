import { dayText, exact, short } from "../../format.ts"
import { addDays } from "../../stats/ranges.ts"

const STEPS = 5
const HOURS = Array.from({ length: 24 }, (_, hour) => hour)
const weekday = (index: number, size: "short" | "long"): string =>
  dayText(addDays("2024-01-01", index), { weekday: size, day: undefined, month: undefined, year: undefined })

interface HourTableProps {
  /** Visits by weekday, Monday first, and hour. */
  grid: number[][]
  /** The largest of them. */
  most: number
}

/** Each cell is a number on one of five shades. */
export default function HourTable({ grid, most }: HourTableProps) {
  return (
    <div class="hours-wrap" tabIndex={0} role="region" aria-label="Visits by weekday and hour">
      <table class="hours">
        <thead>
          <tr>
            <th scope="col">
              <span class="visually-hidden">Day</span>
            </th>
            {HOURS.map((hour) => (
              <th key={hour} scope="col">
                {hour}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {grid.map((hours, day) => (
            <tr key={weekday(day, "long")}>
              <th scope="row" abbr={weekday(day, "long")}>
                {weekday(day, "short")}
              </th>
              {hours.map((visits, hour) => (
                <td
                  key={HOURS[hour]}
                  data-heat={Math.ceil((visits / most) * STEPS) || undefined}
                  title={`${weekday(day, "long")} ${hour}:00, ${exact(visits)} visits`}
                >
                  {short(visits)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
