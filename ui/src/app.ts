import { mount } from 'svelte';
import './design/tokens.css';
import './design/base.css';
import App from './App.svelte';
import { startLive } from './api/live.svelte';
import { startClock } from './lib/clock.svelte';
import { startRouter } from './lib/router.svelte';
import { startSession } from './lib/session.svelte';
import { applySettings } from './lib/settings.svelte';
import { loadText } from './text';

applySettings();
const text = loadText();
startRouter();
startClock();
startLive();
void startSession();
await text;
mount(App, { target: document.getElementById('app')! });
