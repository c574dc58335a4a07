/** The icon set: 16 px, equal stroke widths, current colour. */
const SHAPES = {
  overview: "M2 13.5h12M3.5 11V7.5M8 11V3M12.5 11V5.5",
  realtime: "M1.5 8h3l2-5 3 10 2-5h3",
  visits: "M5.5 4H14M5.5 8H14M5.5 12H14M2 4h.01M2 8h.01M2 12h.01",
  vitals: "M2 12a6 6 0 1 1 12 0M8 12l3-4",
  campaigns: "M2.5 6.5v3h2l6 3.5V3l-6 3.5zM13 6.5v3",
  events: "M9 1.5 3 9h4.5L7 14.5 13 7H8.5z",
  search: "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM11 11l3.5 3.5",
  goals: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 10.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5z",
  funnels: "M2 3h12l-4.5 5.5v4l-3 1.5V8.5z",
  journeys:
    "M3.5 5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM12.5 14a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM5 3.5h4a2.5 2.5 0 0 1 0 5H7a2.5 2.5 0 0 0 0 5h4",
  retention: "M2.5 2.5h3v3h-3zM2.5 6.5h3v3h-3zM2.5 10.5h3v3h-3zM6.5 2.5h3v3h-3zM6.5 6.5h3v3h-3zM10.5 2.5h3v3h-3z",
  people:
    "M6 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM1.5 13.5c0-2.5 2-4 4.5-4s4.5 1.5 4.5 4M11 7.5a2.5 2.5 0 0 0 0-5M12.5 9.8c1.200.7 2 2 2 3.700",
  revenue: "M2 4.5h12v7H2zM8 9.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3z",
  imports: "M8 2v8M5 7l3 3 3-3M2.5 11v2.5h11V11",
  integrations: "M5.5 2v3M10.5 2v3M3.5 5h9v2.5a4.5 4.5 0 0 1-9 0zM8 12v2.5",
  settings: "M2 4.5h7M12 4.5h2M2 11.5h2M7 11.5h7M10.5 6a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM5.5 13a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3z",
  filter: "M2 4h12M4.5 8h7M6.5 12h3",
  calendar: "M2.5 3.5h11v10h-11zM2.5 6.5h11M5.5 2v3M10.5 2v3",
  compare: "M2 12l4-5 3 2.5L14 4M2 14.5h12",
  left: "M10 3 5 8l5 5",
  right: "M6 3l5 5-5 5",
  down: "M3 6l5 5 5-5",
  up: "M3 10l5-5 5 5",
  more: "M3 8h1M7.5 8h1M12 8h1",
  close: "M3.5 3.5l9 9M12.5 3.5l-9 9",
  open: "M6 3H3v10h10v-3M9 2.5h4.5V7M13 3 7.5 8.5",
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  check: "M2.5 8.5l3.5 3.5 7.5-8",
  plus: "M8 2.5v11M2.5 8h11",
  trash: "M2.5 4h11M6 4V2.5h4V4M4 4l.5 9.5h7L12 4",
  pencil: "M2.5 13.5l.5-3L11 2.5l2.5 2.5-8 8z",
  pin: "M6 2h4l-.5 4.5L12 9H4l2.5-2.5zM8 9v5",
  key: "M5 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM8 8h6v2.5M11.5 8v2",
  user: "M8 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM3 13.5c0-2.5 2-4 5-4s5 1.5 5 4",
  lock: "M3.5 7h9v6.5h-9zM5.5 7V5a2.5 2.5 0 0 1 5 0v2",
  warning: "M8 2 1.5 13.5h13zM8 6.5v3.5M8 12h.01",
  download: "M8 2v8M5 7l3 3 3-3M2.5 13.5h11",
  pause: "M5.5 3v10M10.5 3v10",
} as const
export type IconName = keyof typeof SHAPES
/** Name of a common icon, or the SVG path of an icon that a plugin brings: 16 × 16, drawn with strokes. */
export type AnyIcon = IconName | { path: string }

/** A decorative icon. Its meaning is in the text next to it or in the label of its button. */
export const Icon = ({ name }: { name: AnyIcon }) => (
  <svg class="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
    <path d={typeof name === "string" ? SHAPES[name] : name.path} />
  </svg>
)

/** The product's logo. */
export const Mark = () => (
  <svg viewBox="0 0 16 16" aria-hidden="true" focusable="false" width="24" height="24">
    <rect width="16" height="16" rx="3" fill="var(--accent)" />
    <path d="M3.5 12.5h2v-3h-2zm3.5 0h2v-6H7zm3.5 0h2v-9h-2z" fill="var(--on-accent)" />
  </svg>
)
