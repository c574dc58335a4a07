import { everyScreen } from "./every-screen.ts"

everyScreen({ width: 1280, themes: ["light", "dark"] })
