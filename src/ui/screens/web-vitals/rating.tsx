import { type Rating, ratingOf, type WebVital, webVitalText } from "../../report/data/web-vitals.ts"

/** A shape for each rating, because colours alone are not accessible. */
const SHAPES: Readonly<Record<Rating, string>> = {
  Good: "M5 1a4 4 0 1 1 0 8 4 4 0 0 1 0-8z",
  "Needs improvement": "M1 1h8v8H1z",
  Poor: "M5 .5 9.5 9h-9z",
}

const RatingMark = ({ rating }: { rating: Rating }) => (
  <svg class="rating-mark" viewBox="0 0 10 10" aria-hidden="true" focusable="false">
    <path d={SHAPES[rating]} />
  </svg>
)

/** A value with the mark of its rating, or the rating in words. */
export function Rated({ name, value, inWords = false }: { name: WebVital; value: number; inWords?: boolean }) {
  const rating = ratingOf(name, value)
  return (
    <span class="rated" data-judged={rating}>
      <RatingMark rating={rating} />
      {inWords ? rating : webVitalText(name, value)}
      {!inWords && <span class="visually-hidden"> {rating.toLowerCase()}</span>}
    </span>
  )
}

/** Explains the marks. */
export const RatingKey = () => (
  <span class="row rating-key">
    {(Object.keys(SHAPES) as Rating[]).map((rating) => (
      <span key={rating} class="rated" data-judged={rating}>
        <RatingMark rating={rating} />
        {rating}
      </span>
    ))}
  </span>
)
